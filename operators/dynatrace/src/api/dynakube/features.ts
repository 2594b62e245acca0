/** Fields of what can be switched on besides OneAgent and ActiveGate. */
import { listMap } from '@reeve/crd'
import { Type } from 'typebox'
import { affinity } from '../core/affinity.ts'
import { labelSelector } from '../core/label-selector.ts'
import { resources } from '../core/resources.ts'
import { nodeSelector, topologySpreadConstraints } from '../core/scheduling.ts'
import { volumeMounts, volumes } from '../core/volumes.ts'
import { flag, group, int32, list, presence, requiredText, text, textList, textMap } from '../fields/fields.ts'

const OTHER_NAMESPACES = 'all but system namespaces when left out.'

/** Metadata enrichment. */
export const metadataEnrichment = group(
  {
    enabled: flag('Switches it on; off when left out.'),
    namespaceSelector: labelSelector(`Namespaces whose pods are enriched; ${OTHER_NAMESPACES}`),
  },
  'Gives pods files with facts about themselves, which their telemetry then carries.',
)

/** Log monitoring. */
export const logMonitoring = group(
  {
    ingestRuleMatchers: list(
      Type.Object({
        attribute: text('The attribute that is compared, such as k8s.namespace.name.'),
        values: textList('The values that match.'),
      }),
      'Which logs are sent, written once into the settings of the tenant; all when left out.',
    ),
  },
  'Sends the logs of containers. Its presence, even as {}, switches it on.',
)

const KSPM = 'Checks how nodes and workloads are configured. Its presence, even as {}, switches it on.'

/** Security posture management. */
export const kspm = group(
  { mappedHostPaths: textList('Absolute paths of the node that the collector may read; only / for everything.') },
  KSPM,
)

/** Security posture management in v1beta3 and v1beta4: everything of the node is mapped. */
export const kspmWithoutPaths = presence(KSPM)

const database = Type.Object({
  id: requiredText('Ends the name of the Deployment; up to 8 of a-z, 0-9 and single dashes.', {
    maxLength: 8,
    pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  }),
  replicas: int32('How many executors run. When left out, an autoscaler may decide; it starts with 1.'),
  serviceAccountName: text('The service account of the pods; dynatrace-sql-ext-exec when left out.'),
  resources: resources('CPU and memory of an executor.'),
  volumes: volumes('More volumes, such as drivers and wallets. Each must be mounted.'),
  volumeMounts: volumeMounts("Where those volumes appear; not below the operator's own mounts."),
  nodeSelector: nodeSelector('an executor'),
  affinity: affinity('Which nodes, and which company, executors prefer or need.'),
  topologySpreadConstraints: topologySpreadConstraints('the executors'),
  labels: textMap("More labels on the pods; the operator's own win."),
  annotations: textMap('More annotations on the pods.'),
})

/** Extensions. */
export const extensions = group(
  {
    prometheus: presence('Its presence switches on the collection of Prometheus metrics.'),
    databases: Type.Optional(
      listMap(database, ['id'], {
        minItems: 1,
        description: 'Switches on the monitoring of databases, with a Deployment of executors for each entry.',
      }),
    ),
  },
  'Data sources that run in the cluster. Each needs its image in templates.',
)

/** Extensions before v1beta6: Prometheus only. */
export const prometheusExtensions = presence(
  'Its presence, even as {}, switches on the collection of Prometheus metrics.',
)

/** Telemetry ingest. */
export const telemetryIngest = group(
  {
    protocols: textList('What is understood: otlp, jaeger, statsd, zipkin; all when left out or empty.'),
    serviceName: text('Name of the Service; <name>-telemetry-ingest when left out.'),
    tlsRefName: text('A Secret with the server certificate (tls.crt and tls.key); plain text when left out.'),
  },
  'Receives telemetry in the cluster and passes it on. Its presence, even as {}, switches it on.',
)

/** OTLP exporters of applications. */
export const otlpExporterConfiguration = group(
  {
    signals: group(
      {
        metrics: presence('Its presence configures the export of metrics.'),
        traces: presence('Its presence configures the export of traces.'),
        logs: presence('Its presence configures the export of logs.'),
      },
      'Which signals are configured; without any, nothing is.',
    ),
    namespaceSelector: labelSelector(`Namespaces whose pods are configured; ${OTHER_NAMESPACES}`),
    overrideEnvVars: flag('Whether settings that a pod already has are replaced; they are kept when left out.'),
  },
  'Points the OpenTelemetry exporters of applications to the tenant, by environment variables.',
)
