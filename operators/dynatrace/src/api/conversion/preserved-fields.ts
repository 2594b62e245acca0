/** Fields that v1beta6 no longer has: annotations keep their values, so that older versions still show them. */
import { parseJsonBoolean } from '../annotation-values.ts'

const PREFIX = 'conversion.internal.dynatrace.com/'

/** Keeps `autoUpdate` of the OneAgent mode. */
export const AUTO_UPDATE_ANNOTATION = `${PREFIX}auto-update`

/** Says that the image of the collector was filled in by conversion, which older versions did not need. */
const DEFAULT_COLLECTOR_IMAGE_ANNOTATION = `${PREFIX}default-otelc-image`

/** The image that older versions mean when they name none. */
export const DEFAULT_COLLECTOR_IMAGE = {
  repository: 'public.ecr.aws/dynatrace/dynatrace-otel-collector',
  tag: 'latest',
} as const

type Annotations = Readonly<Record<string, string>>

/** What was preserved. */
export interface Preserved {
  readonly autoUpdate: boolean | undefined
  readonly isDefaultCollectorImage: boolean
}

/** Reads what was preserved, and returns the annotations that users may see. */
export function restore(annotations: Annotations = {}): Preserved & { readonly annotations: Annotations } {
  const { [AUTO_UPDATE_ANNOTATION]: autoUpdate, [DEFAULT_COLLECTOR_IMAGE_ANNOTATION]: image, ...visible } = annotations
  return {
    autoUpdate: parseJsonBoolean(autoUpdate),
    isDefaultCollectorImage: parseJsonBoolean(image) ?? false,
    annotations: visible,
  }
}

/**
 * Adds what must be preserved. A mode without `autoUpdate`, or no mode at all (`hasAutoUpdate` false), leaves what a
 * client sent; so does a collector with its own image.
 */
export function preserve(
  annotations: Annotations = {},
  preserved: Preserved & { readonly hasAutoUpdate: boolean },
): Annotations {
  const result: Record<string, string> = { ...annotations }
  if (preserved.hasAutoUpdate) {
    if (preserved.autoUpdate === undefined) delete result[AUTO_UPDATE_ANNOTATION]
    else result[AUTO_UPDATE_ANNOTATION] = String(preserved.autoUpdate)
  }
  if (preserved.isDefaultCollectorImage) result[DEFAULT_COLLECTOR_IMAGE_ANNOTATION] = 'true'
  return result
}
