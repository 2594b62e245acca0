/** Fields of the ActiveGate, the gateway between the cluster and the tenant. */
import { containerEnv } from '../core/environment-variables.ts'
import { persistentVolumeClaim } from '../core/persistent-volume-claim.ts'
import { resources } from '../core/resources.ts'
import { nodeSelector, tolerations, topologySpreadConstraints } from '../core/scheduling.ts'
import { statefulSetRollingUpdate } from '../core/update-strategy.ts'
import { flag, group, int32, int64, text, textList, textMap } from '../fields/fields.ts'
import { pullPolicy } from '../fields/image-reference.ts'
import { valueSource } from '../fields/value-source.ts'

const fields = {
  capabilities: textList(
    'What the gateway does: routing, kubernetes-monitoring, metrics-ingest, dynatrace-api, debugging. None: no gateway, unless extensions need one.',
  ),
  replicas: int32('How many gateways run. When left out, an autoscaler may decide; it starts with 1.'),
  image: text("The gateway's image; taken from the registry of the tenant when left out."),
  group: text('The ActiveGate group that the gateways join.'),
  resources: resources('CPU and memory of each gateway. Set a memory limit.'),
  tlsSecretName: text(
    'A Secret with the server certificate: server.p12 and password, and tls.crt for clients. Made by the operator when left out.',
  ),
  customProperties: valueSource('Settings of the gateway in the format of custom.properties.', 'customProperties'),
  nodeSelector: nodeSelector('a gateway'),
  tolerations: tolerations('the gateways'),
  topologySpreadConstraints: topologySpreadConstraints('the gateways'),
  priorityClassName: text('The PriorityClass of the pods.'),
  dnsPolicy: text('The DNS policy of the pods.'),
  env: containerEnv('the gateway'),
  labels: textMap('More labels on the pods.'),
  annotations: textMap('More annotations on the pods.'),
}

const lifetime = {
  terminationGracePeriodSeconds: int64('Seconds a gateway gets to finish its work before it is killed.'),
  useEphemeralVolume: flag('Keeps temporary data in the pod instead of on claimed storage.'),
}

const CLAIM = 'Storage for temporary data. Excludes useEphemeralVolume.'
const DESCRIPTION = 'The gateway between the cluster and the tenant.'

const updates = {
  imagePullPolicy: pullPolicy("the gateway's image"),
  rollingUpdate: statefulSetRollingUpdate('The pace at which gateways are replaced.'),
}

/** As in v1beta6. */
export const activeGate = group(
  { ...fields, ...updates, ...lifetime, volumeClaimTemplate: persistentVolumeClaim(CLAIM) },
  DESCRIPTION,
)

/** As in v1beta5. */
export const activeGateWithoutUpdates = group(
  { ...fields, ...lifetime, volumeClaimTemplate: persistentVolumeClaim(CLAIM) },
  DESCRIPTION,
)

/** As in v1beta4, where the claim had another name. */
export const activeGateWithClaim = group(
  { ...fields, ...lifetime, persistentVolumeClaim: persistentVolumeClaim(CLAIM) },
  DESCRIPTION,
)

/** As in v1beta3. */
export const activeGateWithoutStorage = group(fields, DESCRIPTION)
