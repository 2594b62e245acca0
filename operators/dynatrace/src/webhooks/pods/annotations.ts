/** Annotations of pods that steer injection, and those that report its result. */
import { ANNOTATIONS } from '../../controllers/rendering/annotations.ts'

/** The annotations of one feature. */
export interface FeatureAnnotations {
  /** Set by users: `"true"` or `"false"`. */
  readonly inject: string
  /** Set by the webhook: whether the pod has the feature. */
  readonly injected: string
  /** Set by the webhook when the pod does not have the feature. */
  readonly reason: string
}

const feature = (prefix: string): FeatureAnnotations => ({
  inject: `${prefix}/inject`,
  injected: `${prefix}/injected`,
  reason: `${prefix}/reason`,
})

/** The features, each with its own annotations. */
export const FEATURES = {
  codeModules: feature('oneagent.dynatrace.com'),
  enrichment: feature('metadata-enrichment.dynatrace.com'),
  exporter: feature('otlp-exporter-configuration.dynatrace.com'),
} as const

/** Names of the features. */
export type FeatureName = keyof typeof FEATURES

/** The result where a volume of the pod is in the way of code modules and enrichment. */
export const VOLUMES: Omit<FeatureAnnotations, 'inject'> = feature('volume.dynatrace.com')

/** The result for code modules and enrichment together. */
export const OVERALL: Omit<FeatureAnnotations, 'inject'> = feature('dynakube.dynatrace.com')

/** Settings of a single pod. */
export const POD_SETTINGS = {
  /** The master switch: `"false"` disables every feature. */
  inject: ANNOTATIONS.inject,
  splitMounts: ANNOTATIONS.splitMounts,
  failurePolicy: 'oneagent.dynatrace.com/failure-policy',
  installPath: 'oneagent.dynatrace.com/install-path',
  /** Also read from the DynaKube; the pod wins. */
  technologies: 'oneagent.dynatrace.com/technologies',
  flavor: 'oneagent.dynatrace.com/flavor',
  volumeType: 'oneagent.dynatrace.com/volume-type',
} as const

/** Excludes a container on the pod or on the DynaKube; what follows the slash is the name of the container. */
export const CONTAINER_PREFIX = 'container.inject.dynatrace.com'

/** The size limit of one of the emptyDir volumes. */
export const sizeAnnotation = (volume: string): string => `volume.dynatrace.com/${volume}`

/** Metadata of a namespace or pod that telemetry carries. Without a slash: all of it as JSON. */
export const METADATA = 'metadata.dynatrace.com'

/** Metadata under one key. */
export const metadataAnnotation = (key: string): string => `${METADATA}/${key}`

/** On copies that `oc debug` makes of pods. */
export const OPENSHIFT_DEBUG = ['debug.openshift.io/source-container', 'debug.openshift.io/source-resource'] as const

/** On the API server's view of a static pod, which cannot refer to Secrets. */
export const MIRROR_POD = 'kubernetes.io/config.mirror'
