/** Fields of the workloads that features run as. */

import { nodeAffinity } from '../core/affinity.ts'
import { containerEnv } from '../core/environment-variables.ts'
import { persistentVolumeClaim } from '../core/persistent-volume-claim.ts'
import { resources } from '../core/resources.ts'
import { nodeSelector, tolerations, topologySpreadConstraints } from '../core/scheduling.ts'
import { daemonSetRollingUpdate, daemonSetUpdateStrategy } from '../core/update-strategy.ts'
import { flag, group, int32, text, textList, textMap } from '../fields/fields.ts'
import { imageRef, requiredImageRef } from '../fields/image-reference.ts'

const podMetadata = {
  labels: textMap('More labels on the pods.'),
  annotations: textMap('More annotations on the pods.'),
}

const logMonitoringFields = {
  ...podMetadata,
  imageRef: imageRef('The image; both halves are needed.'),
  nodeSelector: nodeSelector('the log agent'),
  tolerations: tolerations('the log agents'),
  resources: resources('CPU and memory of the log agent.'),
  priorityClassName: text('The PriorityClass of the pods.'),
  dnsPolicy: text('The DNS policy of the pods.'),
  secCompProfile: text('A seccomp profile on the node, by name.'),
  args: textList('More arguments for the log agent.'),
}

const LOG_MONITORING = 'The log agent. Only used when no OneAgent runs on the nodes, which otherwise does its work.'

const logMonitoring = group(
  {
    ...logMonitoringFields,
    rollingUpdate: daemonSetRollingUpdate(
      'The pace at which log agents are replaced; the flag oneagent-max-unavailable, or one node at a time, when left out.',
    ),
  },
  LOG_MONITORING,
)

const kspmNodeConfigurationCollector = group(
  {
    ...podMetadata,
    imageRef: imageRef('The image; both halves are needed.'),
    nodeSelector: nodeSelector('the collector'),
    nodeAffinity: nodeAffinity('Which nodes the collector prefers or needs.'),
    tolerations: tolerations('the collectors'),
    resources: resources('CPU and memory of the collector.'),
    priorityClassName: text('The PriorityClass of the pods.'),
    updateStrategy: daemonSetUpdateStrategy('How running collectors are replaced.'),
    args: textList('More arguments for the collector.'),
    env: containerEnv('the collector'),
  },
  'The collector of node configurations, for security posture management.',
)

const otelCollector = group(
  {
    ...podMetadata,
    imageRef: imageRef('The image; both halves are needed for Prometheus and telemetry ingest.'),
    replicas: int32('How many collectors run. When left out, an autoscaler may decide; it starts with 1.'),
    tolerations: tolerations('the collectors'),
    topologySpreadConstraints: topologySpreadConstraints('the collectors'),
    resources: resources('CPU and memory of a collector.'),
    tlsRefName: text('Accepted for compatibility, without effect.'),
  },
  'The OpenTelemetry collector, for Prometheus metrics and telemetry ingest.',
)

const extensionExecutionController = group(
  {
    ...podMetadata,
    imageRef: imageRef('The image; both halves are needed.'),
    persistentVolumeClaim: persistentVolumeClaim('Storage for its data. Excludes useEphemeralVolume.'),
    useEphemeralVolume: flag('Keeps its data in the pod instead of on claimed storage.'),
    customConfig: text('A ConfigMap with its configuration.'),
    customExtensionCertificates: text('A Secret with the certificates that sign custom extensions.'),
    tlsRefName: text('A Secret with its server certificate; made by the operator when left out.'),
    tolerations: tolerations('the pods of the controller'),
    topologySpreadConstraints: topologySpreadConstraints('the pods of the controller'),
    resources: resources('CPU and memory of the controller.'),
  },
  'The controller that runs extensions.',
)

const sqlExtensionExecutor = group(
  {
    imageRef: requiredImageRef('The image; both halves are needed.'),
    tolerations: tolerations('the executors'),
  },
  'The executors that query databases.',
)

const everywhere = { kspmNodeConfigurationCollector, otelCollector, extensionExecutionController }

const DESCRIPTION = 'Images, resources and placement of the workloads that features run as.'

/** As in v1beta6. */
export const templates = group({ logMonitoring, ...everywhere, sqlExtensionExecutor }, DESCRIPTION)

/** As in the versions before, which have no databases and no pace for log agents. */
export const templatesWithoutDatabases = group(
  { logMonitoring: group(logMonitoringFields, LOG_MONITORING), ...everywhere },
  DESCRIPTION,
)
