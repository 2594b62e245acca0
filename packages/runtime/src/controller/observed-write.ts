/** What a write changed, for the record of its reconcile: compared only when somebody observes the operator. */
import type { KubeObject, ObjectKey, Resource, Verb } from '@reeve/kube'
import type { Informer } from '../cache/informer.ts'
import type { ClientCall } from '../lifecycle/intercept-client.ts'
import type { WriteChange } from './reconcile-record.ts'

/** A write that succeeded, with both states of its object. */
export interface ObservedWrite {
  readonly verb: Verb
  readonly resource: Resource
  readonly subresource: string | undefined
  /** The state in the cache before the write; `undefined` when the object did not exist. */
  readonly before: KubeObject | undefined
  /** The response of the server; `undefined` when the object was deleted. */
  readonly after: KubeObject | undefined
}

/**
 * Returns what a write changed, as it is kept in the record of the reconcile. Nothing it returns may be secret: the
 * objects may be Secrets. An exception is logged, and the record has no changes then.
 */
export type DescribeWrite = (write: ObservedWrite) => readonly WriteChange[]

/** Called before a write; the function it returns is called with the response. */
export type ObserveWrite = (call: ClientCall) => (response: unknown) => readonly WriteChange[] | undefined

/** Compares the cached state before a write with the response. */
export function observeWrites(
  describe: DescribeWrite,
  informersOf: (resource: Resource) => readonly Informer<KubeObject>[],
  onError: (error: unknown) => void,
): ObserveWrite {
  return ({ verb, resource, key, subresource }) => {
    if (resource === undefined || verb === 'deletecollection') return () => undefined
    const informers = informersOf(resource).filter(({ metadataOnly }) => !metadataOnly)
    const before = verb === 'create' ? undefined : cachedObject(informers, key)
    const isNew = verb === 'create' || (verb === 'apply' && informers.length > 0)
    // Without the state before, a difference would show fields that did not change.
    if (before === undefined && !isNew) return () => undefined
    return (response) => {
      // A deletion returns the last state, or a Status; every other write returns the object.
      const after = verb === 'delete' ? undefined : (response as KubeObject)
      // Subresources such as `scale` return a kind of their own.
      if (after !== undefined && after.kind !== resource.kind) return undefined
      try {
        return describe({ verb, resource, subresource, before, after })
      } catch (error) {
        onError(error)
        return undefined
      }
    }
  }
}

/** The state in the first informer that has the object. */
export function cachedObject(
  informers: readonly Informer<KubeObject>[],
  key: ClientCall['key'],
): KubeObject | undefined {
  const { namespace, name } = key
  if (name === undefined) return undefined
  const wanted: ObjectKey = namespace === undefined ? { name } : { namespace, name }
  for (const informer of informers) {
    const object = informer.get(wanted)
    if (object !== undefined) return object
  }
  return undefined
}
