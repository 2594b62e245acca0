/** The lifecycle of an object with a finalizer, as one function around a reconcile. */
import type { KubeClient, KubeObject, Resource, Stored } from '@reeve/kube'
import { addFinalizer, hasFinalizer, removeFinalizer, stillExists } from './finalizer.ts'

/** Options of {@link withFinalizer}. */
export interface WithFinalizerOptions<T extends KubeObject, R> {
  readonly client: KubeClient
  readonly resource: Resource<T>
  /** Your own qualified name: `example.com/cleanup`. */
  readonly finalizer: string
  /** Reconciles the object. Only called when the server has stored the finalizer. */
  readonly reconcile: (object: Stored<T>) => Promise<R>
  /**
   * Undoes what `reconcile` did outside the reach of the garbage collector. Returns `'done'` when nothing is
   * left, anything else (such as a result with `requeueAfterMs`) when it must be called again.
   */
  readonly cleanup: (object: Stored<T>) => Promise<'done' | R>
  readonly signal?: AbortSignal
}

/**
 * Reconciles an object so that its clean-up runs before it is deleted.
 *
 * 1. A live object without the finalizer gets it, and is then reconciled.
 * 2. A live object with the finalizer is reconciled.
 * 3. An object that is being deleted and carries the finalizer is cleaned up; the finalizer is removed when that is
 *    done.
 * 4. An object that is being deleted and does not carry it is ignored, and so is one that is already deleted.
 *
 * *Guarantees*
 * - `reconcile` never runs for an object that could vanish without `cleanup`.
 * - `cleanup` runs at least once for every object that `reconcile` ever saw, and the finalizer stays until it returns
 *   `'done'`, also after an exception.
 * - `cleanup` does not run for an object that is already deleted, so that it may go by name: what an old view still shows
 *   may have been created again.
 * - Other finalizers are not touched.
 *
 * *Assumptions*
 * - `cleanup` is idempotent: it is called again after a crash.
 * - Nothing else removes the finalizer. A person may, to force a deletion; then `cleanup` is skipped.
 *
 * *Errors*: what `reconcile`, `cleanup` or the server throw; `FinalizerConflictError`.
 *
 * @example
 * const result = await withFinalizer(app, {
 *   client, resource: WebApps, finalizer: 'example.com/dns',
 *   reconcile: async (app) => { await dns.ensure(app); return {} },
 *   cleanup: async (app) => ((await dns.remove(app)) ? 'done' : { requeueAfterMs: 5_000 }),
 * })
 */
export async function withFinalizer<T extends KubeObject, R>(
  object: Stored<T>,
  options: WithFinalizerOptions<T, R>,
): Promise<R | undefined> {
  const { client, resource, finalizer, signal } = options
  const request = signal === undefined ? {} : { signal }
  if (object.metadata.deletionTimestamp === undefined) {
    return options.reconcile(await addFinalizer(client, resource, object, finalizer, request))
  }
  if (!hasFinalizer(object, finalizer)) return undefined
  // Decided on the live object, never on the cache: another object may have the name meanwhile, and clean-up often goes by
  // name.
  if (!(await stillExists(client, resource, object, request))) return undefined
  const outcome = await options.cleanup(object)
  if (outcome !== 'done') return outcome
  await removeFinalizer(client, resource, object, finalizer, request)
  return undefined
}
