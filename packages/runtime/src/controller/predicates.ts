/** Which changes cause a reconcile. */
import type { KubeObject, Stored } from '@reeve/kube'

/** A change as a predicate sees it. */
export type ObjectChange<T extends KubeObject> =
  | { readonly type: 'added'; readonly object: Stored<T> }
  | { readonly type: 'modified'; readonly previous: Stored<T>; readonly object: Stored<T> }
  | { readonly type: 'deleted'; readonly object: Stored<T> }

/** Whether a change causes a reconcile. Must be pure and quick. */
export type Predicate<T extends KubeObject = KubeObject> = (change: ObjectChange<T>) => boolean

/**
 * Passes modifications of the desired state: `metadata.generation` grows with `spec`, not with `status`. Also passes the
 * start of a deletion, and every modification of kinds that have no generation. Added and deleted objects always pass.
 *
 * *Caveat*: labels, annotations, finalizers and owner references do not count; combine with {@link labelsChanged} and
 * {@link annotationsChanged} where they matter.
 *
 * @example
 * defineOperator({ controllers: [{ for: { resource: WebApps, predicate: generationChanged }, ... }], ... })
 */
export const generationChanged: Predicate = (change) => {
  if (change.type !== 'modified') return true
  const { metadata: before } = change.previous
  const { metadata: after } = change.object
  return (
    after.generation === undefined ||
    before.generation !== after.generation ||
    before.deletionTimestamp !== after.deletionTimestamp
  )
}

/** Passes modifications of a label. Added and deleted objects always pass. */
export const labelsChanged: Predicate = (change) =>
  change.type !== 'modified' || !isSameMap(change.previous.metadata.labels, change.object.metadata.labels)

/** Passes modifications of an annotation. Added and deleted objects always pass. */
export const annotationsChanged: Predicate = (change) =>
  change.type !== 'modified' || !isSameMap(change.previous.metadata.annotations, change.object.metadata.annotations)

/**
 * Passes what at least one of the predicates passes.
 *
 * @example
 * anyOf(generationChanged, labelsChanged)
 */
export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((passes) => passes(change))
}

type TextMap = Readonly<Record<string, string>>

function isSameMap(a: TextMap = {}, b: TextMap = {}): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
}
