/** Marks objects with a hash of the desired state, which shows users and other tools that something changed. */
import type { KubeObject } from '@reeve/kube'
import type { DesiredObject } from '@reeve/runtime'
import { ANNOTATIONS } from './annotations.ts'
import { hashOf } from './hashes.ts'

/**
 * Adds the hash of the object to its annotations, unless the user gave one.
 *
 * @example
 * const objects = components.flatMap((component) => component.render(input)).map(withTemplateHash)
 */
export function withTemplateHash<T extends KubeObject>(wanted: DesiredObject<T>): DesiredObject<T> {
  const { object } = wanted
  const annotations = { [ANNOTATIONS.templateHash]: hashOf(object), ...object.metadata.annotations }
  return { ...wanted, object: { ...object, metadata: { ...object.metadata, annotations } } }
}
