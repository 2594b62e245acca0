// Builds the collector that judges the configurations which operators generate for it. Nothing is compiled into Reeve from
// here: the module only pins what `go build` fetches.
module reeve.dev/tools/real-cluster/otel-collector

go 1.25.0

require (
	github.com/open-telemetry/opentelemetry-collector-contrib/extension/healthcheckextension v0.144.0
	github.com/open-telemetry/opentelemetry-collector-contrib/processor/cumulativetodeltaprocessor v0.144.0
	github.com/open-telemetry/opentelemetry-collector-contrib/processor/k8sattributesprocessor v0.144.0
	github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor v0.144.0
	github.com/open-telemetry/opentelemetry-collector-contrib/receiver/jaegerreceiver v0.144.0
	github.com/open-telemetry/opentelemetry-collector-contrib/receiver/statsdreceiver v0.144.0
	github.com/open-telemetry/opentelemetry-collector-contrib/receiver/zipkinreceiver v0.144.0
	go.opentelemetry.io/collector/component v1.50.0
	go.opentelemetry.io/collector/confmap v1.50.0
	go.opentelemetry.io/collector/confmap/provider/envprovider v1.50.0
	go.opentelemetry.io/collector/confmap/provider/fileprovider v1.50.0
	go.opentelemetry.io/collector/exporter v1.50.0
	go.opentelemetry.io/collector/exporter/otlphttpexporter v0.144.0
	go.opentelemetry.io/collector/extension v1.50.0
	go.opentelemetry.io/collector/otelcol v0.144.0
	go.opentelemetry.io/collector/processor v1.50.0
	go.opentelemetry.io/collector/processor/batchprocessor v0.144.0
	go.opentelemetry.io/collector/processor/memorylimiterprocessor v0.144.0
	go.opentelemetry.io/collector/receiver v1.50.0
	go.opentelemetry.io/collector/receiver/otlpreceiver v0.144.0
	go.opentelemetry.io/collector/service v0.144.0
)

require (
	github.com/alecthomas/participle/v2 v2.1.4 // indirect
	github.com/antchfx/xmlquery v1.5.0 // indirect
	github.com/antchfx/xpath v1.3.5 // indirect
	github.com/apache/thrift v0.22.0 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/distribution/reference v0.6.0 // indirect
	github.com/ebitengine/purego v0.9.1 // indirect
	github.com/elastic/go-grok v0.3.1 // indirect
	github.com/elastic/lunes v0.2.0 // indirect
	github.com/emicklei/go-restful/v3 v3.12.2 // indirect
	github.com/felixge/httpsnoop v1.0.4 // indirect
	github.com/foxboron/go-tpm-keyfiles v0.0.0-20251226215517-609e4778396f // indirect
	github.com/fsnotify/fsnotify v1.9.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.0 // indirect
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/go-ole/go-ole v1.2.6 // indirect
	github.com/go-openapi/jsonpointer v0.21.0 // indirect
	github.com/go-openapi/jsonreference v0.20.2 // indirect
	github.com/go-openapi/swag v0.23.0 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/gobwas/glob v0.2.3 // indirect
	github.com/goccy/go-json v0.10.5 // indirect
	github.com/gogo/googleapis v1.4.1 // indirect
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/golang/groupcache v0.0.0-20210331224755-41bb18bfe9da // indirect
	github.com/golang/snappy v1.0.0 // indirect
	github.com/google/gnostic-models v0.7.0 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/gorilla/mux v1.8.1 // indirect
	github.com/grafana/regexp v0.0.0-20250905093917-f7b3be9d1853 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.27.4 // indirect
	github.com/hashicorp/go-version v1.8.0 // indirect
	github.com/hashicorp/golang-lru v0.5.4 // indirect
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	github.com/iancoleman/strcase v0.3.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jaegertracing/jaeger-idl v0.6.0 // indirect
	github.com/josharian/intern v1.0.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/klauspost/compress v1.18.2 // indirect
	github.com/klauspost/cpuid/v2 v2.0.9 // indirect
	github.com/knadh/koanf/maps v0.1.2 // indirect
	github.com/knadh/koanf/providers/confmap v1.0.0 // indirect
	github.com/knadh/koanf/v2 v2.3.0 // indirect
	github.com/lightstep/go-expohisto v1.0.0 // indirect
	github.com/lufia/plan9stats v0.0.0-20251013123823-9fd1530e3ec3 // indirect
	github.com/magefile/mage v1.15.0 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/mitchellh/copystructure v1.2.0 // indirect
	github.com/mitchellh/reflectwalk v1.0.2 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	github.com/mostynb/go-grpc-compression v1.2.3 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/internal/common v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/internal/coreinternal v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/internal/filter v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/internal/healthcheck v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/internal/k8sconfig v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/internal/pdatautil v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/pkg/core/xidutils v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatautil v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/pkg/status v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/pkg/translator/jaeger v0.144.0 // indirect
	github.com/open-telemetry/opentelemetry-collector-contrib/pkg/translator/zipkin v0.144.0 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/openshift/api v0.0.0-20251015095338-264e80a2b6e7 // indirect
	github.com/openshift/client-go v0.0.0-20251015124057-db0dee36e235 // indirect
	github.com/openzipkin/zipkin-go v0.4.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.23 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/power-devops/perfstat v0.0.0-20240221224432-82ca36839d55 // indirect
	github.com/prometheus/client_golang v1.23.2 // indirect
	github.com/prometheus/client_model v0.6.2 // indirect
	github.com/prometheus/common v0.67.1 // indirect
	github.com/prometheus/otlptranslator v0.0.2 // indirect
	github.com/prometheus/procfs v0.17.0 // indirect
	github.com/rs/cors v1.11.1 // indirect
	github.com/shirou/gopsutil/v4 v4.25.12 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/stretchr/testify v1.11.1 // indirect
	github.com/tklauser/go-sysconf v0.3.16 // indirect
	github.com/tklauser/numcpus v0.11.0 // indirect
	github.com/twmb/murmur3 v1.1.8 // indirect
	github.com/ua-parser/uap-go v0.0.0-20240611065828-3a4781585db6 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/yusufpapurcu/wmi v1.2.4 // indirect
	github.com/zeebo/xxh3 v1.0.2 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/collector v0.144.0 // indirect
	go.opentelemetry.io/collector/client v1.50.0 // indirect
	go.opentelemetry.io/collector/component/componentstatus v0.144.0 // indirect
	go.opentelemetry.io/collector/component/componenttest v0.144.0 // indirect
	go.opentelemetry.io/collector/config/configauth v1.50.0 // indirect
	go.opentelemetry.io/collector/config/configcompression v1.50.0 // indirect
	go.opentelemetry.io/collector/config/configgrpc v0.144.0 // indirect
	go.opentelemetry.io/collector/config/confighttp v0.144.0 // indirect
	go.opentelemetry.io/collector/config/configmiddleware v1.50.0 // indirect
	go.opentelemetry.io/collector/config/confignet v1.50.0 // indirect
	go.opentelemetry.io/collector/config/configopaque v1.50.0 // indirect
	go.opentelemetry.io/collector/config/configoptional v1.50.0 // indirect
	go.opentelemetry.io/collector/config/configretry v1.50.0 // indirect
	go.opentelemetry.io/collector/config/configtelemetry v0.144.0 // indirect
	go.opentelemetry.io/collector/config/configtls v1.50.0 // indirect
	go.opentelemetry.io/collector/confmap/xconfmap v0.144.0 // indirect
	go.opentelemetry.io/collector/connector v0.144.0 // indirect
	go.opentelemetry.io/collector/connector/connectortest v0.144.0 // indirect
	go.opentelemetry.io/collector/connector/xconnector v0.144.0 // indirect
	go.opentelemetry.io/collector/consumer v1.50.0 // indirect
	go.opentelemetry.io/collector/consumer/consumererror v0.144.0 // indirect
	go.opentelemetry.io/collector/consumer/consumererror/xconsumererror v0.144.0 // indirect
	go.opentelemetry.io/collector/consumer/consumertest v0.144.0 // indirect
	go.opentelemetry.io/collector/consumer/xconsumer v0.144.0 // indirect
	go.opentelemetry.io/collector/exporter/exporterhelper v0.144.0 // indirect
	go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper v0.144.0 // indirect
	go.opentelemetry.io/collector/exporter/exportertest v0.144.0 // indirect
	go.opentelemetry.io/collector/exporter/xexporter v0.144.0 // indirect
	go.opentelemetry.io/collector/extension/extensionauth v1.50.0 // indirect
	go.opentelemetry.io/collector/extension/extensioncapabilities v0.144.0 // indirect
	go.opentelemetry.io/collector/extension/extensionmiddleware v0.144.0 // indirect
	go.opentelemetry.io/collector/extension/extensiontest v0.144.0 // indirect
	go.opentelemetry.io/collector/extension/xextension v0.144.0 // indirect
	go.opentelemetry.io/collector/featuregate v1.50.0 // indirect
	go.opentelemetry.io/collector/internal/componentalias v0.144.0 // indirect
	go.opentelemetry.io/collector/internal/fanoutconsumer v0.144.0 // indirect
	go.opentelemetry.io/collector/internal/memorylimiter v0.144.0 // indirect
	go.opentelemetry.io/collector/internal/sharedcomponent v0.144.0 // indirect
	go.opentelemetry.io/collector/internal/telemetry v0.144.0 // indirect
	go.opentelemetry.io/collector/pdata v1.50.0 // indirect
	go.opentelemetry.io/collector/pdata/pprofile v0.144.0 // indirect
	go.opentelemetry.io/collector/pdata/testdata v0.144.0 // indirect
	go.opentelemetry.io/collector/pdata/xpdata v0.144.0 // indirect
	go.opentelemetry.io/collector/pipeline v1.50.0 // indirect
	go.opentelemetry.io/collector/pipeline/xpipeline v0.144.0 // indirect
	go.opentelemetry.io/collector/processor/processorhelper v0.144.0 // indirect
	go.opentelemetry.io/collector/processor/processorhelper/xprocessorhelper v0.144.0 // indirect
	go.opentelemetry.io/collector/processor/processortest v0.144.0 // indirect
	go.opentelemetry.io/collector/processor/xprocessor v0.144.0 // indirect
	go.opentelemetry.io/collector/receiver/receiverhelper v0.144.0 // indirect
	go.opentelemetry.io/collector/receiver/receivertest v0.144.0 // indirect
	go.opentelemetry.io/collector/receiver/xreceiver v0.144.0 // indirect
	go.opentelemetry.io/collector/service/hostcapabilities v0.144.0 // indirect
	go.opentelemetry.io/contrib/bridges/otelzap v0.13.0 // indirect
	go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc v0.63.0 // indirect
	go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp v0.63.0 // indirect
	go.opentelemetry.io/contrib/otelconf v0.18.0 // indirect
	go.opentelemetry.io/contrib/propagators/b3 v1.38.0 // indirect
	go.opentelemetry.io/otel v1.39.1-0.20260115134311-f809f7d71e2d // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc v0.14.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp v0.14.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc v1.38.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp v1.38.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.38.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc v1.38.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp v1.38.0 // indirect
	go.opentelemetry.io/otel/exporters/prometheus v0.60.0 // indirect
	go.opentelemetry.io/otel/exporters/stdout/stdoutlog v0.14.0 // indirect
	go.opentelemetry.io/otel/exporters/stdout/stdoutmetric v1.38.0 // indirect
	go.opentelemetry.io/otel/exporters/stdout/stdouttrace v1.38.0 // indirect
	go.opentelemetry.io/otel/log v0.15.0 // indirect
	go.opentelemetry.io/otel/metric v1.39.1-0.20260115134311-f809f7d71e2d // indirect
	go.opentelemetry.io/otel/sdk v1.39.0 // indirect
	go.opentelemetry.io/otel/sdk/log v0.14.0 // indirect
	go.opentelemetry.io/otel/sdk/metric v1.39.1-0.20260115134311-f809f7d71e2d // indirect
	go.opentelemetry.io/otel/trace v1.39.1-0.20260115134311-f809f7d71e2d // indirect
	go.opentelemetry.io/proto/otlp v1.7.1 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.27.1 // indirect
	go.yaml.in/yaml/v2 v2.4.3 // indirect
	go.yaml.in/yaml/v3 v3.0.4 // indirect
	golang.org/x/crypto v0.47.0 // indirect
	golang.org/x/exp v0.0.0-20240506185415-9bf2ced13842 // indirect
	golang.org/x/net v0.49.0 // indirect
	golang.org/x/oauth2 v0.34.0 // indirect
	golang.org/x/sys v0.40.0 // indirect
	golang.org/x/term v0.39.0 // indirect
	golang.org/x/text v0.33.0 // indirect
	golang.org/x/time v0.9.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20251222181119-0a764e51fe1b // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20251222181119-0a764e51fe1b // indirect
	google.golang.org/grpc v1.78.0 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
	gopkg.in/evanphx/json-patch.v4 v4.12.0 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
	gopkg.in/yaml.v2 v2.4.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	k8s.io/api v0.34.3 // indirect
	k8s.io/apimachinery v0.34.3 // indirect
	k8s.io/client-go v0.34.3 // indirect
	k8s.io/klog/v2 v2.130.1 // indirect
	k8s.io/kube-openapi v0.0.0-20250710124328-f3f2b991d03b // indirect
	k8s.io/utils v0.0.0-20250604170112-4c0f3b243397 // indirect
	sigs.k8s.io/json v0.0.0-20241014173422-cfa47c3a1cc8 // indirect
	sigs.k8s.io/randfill v1.0.0 // indirect
	sigs.k8s.io/structured-merge-diff/v6 v6.3.0 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)
