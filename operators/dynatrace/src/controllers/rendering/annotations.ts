/** Annotations with which the operator keeps its books. */

const INTERNAL = 'internal.operator.dynatrace.com/'

/** On objects and pod templates; a changed value on a pod template restarts its pods. */
export const ANNOTATIONS = {
  /** Of the desired object. */
  templateHash: `${INTERNAL}template-hash`,
  /** Of the volume claim templates, which cannot be changed. */
  claimsHash: `${INTERNAL}pvc-hash`,
  oneAgentTenantToken: `${INTERNAL}tenant-token-hash`,
  activeGateTenantToken: `${INTERNAL}activegate-tenant-token-hash`,
  activeGateConfiguration: `${INTERNAL}activegate-configuration-hash`,
  extensionsSecret: `${INTERNAL}extensions-secret-hash`,
  kspmTokenSecret: `${INTERNAL}kspm-token-secret-hash`,
  telemetrySecret: `${INTERNAL}telemetry-ingest-secret-hash`,
  telemetryConfig: `${INTERNAL}telemetry-ingest-config-hash`,
  edgeConnectSecret: `${INTERNAL}secret-hash`,
  networkZone: `${INTERNAL}network-zone`,
  proxy: `${INTERNAL}proxy-hash`,
  noProxy: `${INTERNAL}no-proxy`,
  /** The webhook injects a pod unless this says `false`. */
  inject: 'dynatrace.com/inject',
  /** The webhook mounts file by file, because the pod has its own mounts below. */
  splitMounts: 'dynatrace.com/split-mounts',
} as const

/** The annotation that puts a container under an AppArmor profile. */
export const appArmorAnnotation = (container: string): string =>
  `container.apparmor.security.beta.kubernetes.io/${container}`
