// The WebApp operator as a user of controller-runtime would write it: the peer of a benchmark.
package main

import (
	"flag"
	"os"

	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	concurrency := flag.Int("concurrency", 10, "reconciles at the same time")
	probes := flag.String("health-probe-bind-address", "127.0.0.1:0", "address of the probes")
	metrics := flag.String("metrics-bind-address", "0", "address of the metrics")
	namespace := flag.String("namespace", "", "the only namespace to watch")
	qps := flag.Float64("kube-api-qps", 1000, "requests per second, so that the client does not slow itself down")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*concurrency, *probes, *metrics, *namespace, float32(*qps)); err != nil {
		ctrl.Log.Error(err, "the operator ended")
		os.Exit(1)
	}
}

func run(concurrency int, probes, metrics, namespace string, qps float32) error {
	if err := schemeBuilder.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS, config.Burst = qps, int(qps)
	options := ctrl.Options{
		Scheme:                 scheme.Scheme,
		Metrics:                server.Options{BindAddress: metrics},
		HealthProbeBindAddress: probes,
	}
	if namespace != "" {
		options.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	r := &reconciler{Client: manager.GetClient(), events: manager.GetEventRecorder("webapp-operator")}
	if err := r.setUp(manager, concurrency); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
