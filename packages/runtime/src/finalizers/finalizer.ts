/** Finalizers: an object is not deleted until its clean-up is done. */
import {
  isConflict,
  isInvalid,
  isNotFound,
  type JsonPatchOperation,
  type KubeClient,
  type KubeObject,
  type ObjectKey,
  type Resource,
  type Stored,
} from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'

/** Options of {@link addFinalizer} and {@link removeFinalizer}. */
export interface FinalizerRequestOptions {
  readonly signal?: AbortSignal
}

/** The list of finalizers changed before every attempt. The next reconcile starts from a newer view. */
export class FinalizerConflictError extends RuntimeError {
  override readonly name = 'FinalizerConflictError'

  constructor(object: KubeObject, finalizer: string, options?: ErrorOptions) {
    const { namespace, name } = object.metadata
    const key = `${namespace === undefined ? '' : `${namespace}/`}${name}`
    super(
      'FINALIZER_CONFLICT',
      `${object.kind} ${key} changed before every attempt to set or remove its finalizer ${finalizer}: retry`,
      options,
    )
  }
}

/** How often a patch is rebuilt from the live object before it fails. */
const ATTEMPTS = 3

/**
 * Whether the object carries the finalizer.
 *
 * @example
 * if (!hasFinalizer(app, 'example.com/cleanup')) return
 */
export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false
}

/**
 * Adds the finalizer to the object, unless it has it.
 *
 * *Guarantees*: no other finalizer is changed, and none is set twice: the patch applies only to the version of
 * the object that it was computed from. When `object` is out of date the live one is read and tried again.
 *
 * *Errors*: {@link FinalizerConflictError}; `RuntimeError` with code `FINALIZER_TOO_LATE` when the object is being
 * deleted or was replaced by a new one of the same name: the server takes no new finalizers then.
 *
 * @example
 * const protectedApp = await addFinalizer(client, WebApps, app, 'example.com/cleanup')
 */
export async function addFinalizer<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  object: Stored<T>,
  finalizer: string,
  options: FinalizerRequestOptions = {},
): Promise<Stored<T>> {
  return retryOnChange(client, resource, object, finalizer, options, async (current) => {
    if (hasFinalizer(current, finalizer) && isSameIncarnation(current, object)) return current
    if (current.metadata.deletionTimestamp !== undefined || !isSameIncarnation(current, object)) {
      const what = `${resource.kind} ${object.metadata.name}`
      throw new RuntimeError(
        'FINALIZER_TOO_LATE',
        `${what} is being deleted: finalizer ${finalizer} can no longer be added`,
      )
    }
    const add: JsonPatchOperation = current.metadata.finalizers?.length
      ? { op: 'add', path: '/metadata/finalizers/-', value: finalizer }
      : { op: 'add', path: '/metadata/finalizers', value: [finalizer] }
    const patch = [...onlyIf(current, 'uid'), ...onlyIf(current, 'resourceVersion'), add]
    return client.patch(resource, keyOf(object), { type: 'json', patch }, options)
  })
}

/**
 * Removes the finalizer. Returns the object, or undefined when it is deleted, by this removal or earlier.
 *
 * *Guarantees*: the patch removes one entry and only if it is this finalizer, on this incarnation of the object; other
 * changes made meanwhile do not get in the way.
 *
 * *Errors*: {@link FinalizerConflictError}.
 *
 * @example
 * await removeFinalizer(client, WebApps, app, 'example.com/cleanup')
 */
export async function removeFinalizer<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  object: Stored<T>,
  finalizer: string,
  options: FinalizerRequestOptions = {},
): Promise<Stored<T> | undefined> {
  try {
    return await retryOnChange(client, resource, object, finalizer, options, async (current) => {
      if (!isSameIncarnation(current, object)) return undefined
      const index = current.metadata.finalizers?.indexOf(finalizer) ?? -1
      if (index < 0) return current
      const path = `/metadata/finalizers/${index}`
      const patch: JsonPatchOperation[] = [
        ...onlyIf(current, 'uid'),
        { op: 'test', path, value: finalizer },
        { op: 'remove', path },
      ]
      return client.patch(resource, keyOf(object), { type: 'json', patch }, options)
    })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/**
 * Whether this very object still exists: one of the same name that was created later is another one. One request, because
 * a cache may still show what is deleted.
 *
 * @example
 * if (!(await stillExists(client, WebApps, app))) return
 */
export async function stillExists<T extends KubeObject>(
  client: Pick<KubeClient, 'get'>,
  resource: Resource<T>,
  object: Stored<T>,
  options: FinalizerRequestOptions = {},
): Promise<boolean> {
  try {
    return isSameIncarnation(await client.get(resource, keyOf(object), options), object)
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** Tries with the given object first, which is usually current, and with the live one after a rejection. */
async function retryOnChange<T extends KubeObject, R>(
  client: KubeClient,
  resource: Resource<T>,
  object: Stored<T>,
  finalizer: string,
  options: FinalizerRequestOptions,
  attempt: (current: Stored<T>) => Promise<R>,
): Promise<R> {
  let current = object
  let lastError: unknown
  for (let turn = 0; turn < ATTEMPTS; turn++) {
    try {
      return await attempt(current)
    } catch (error) {
      // A failed test operation is a 422, a conflict a 409.
      if (!isInvalid(error) && !isConflict(error)) throw error
      lastError = error
    }
    current = await client.get(resource, keyOf(object), options)
  }
  throw new FinalizerConflictError(object, finalizer, { cause: lastError })
}

function onlyIf(object: Stored<KubeObject>, field: 'uid' | 'resourceVersion'): readonly JsonPatchOperation[] {
  return [{ op: 'test', path: `/metadata/${field}`, value: object.metadata[field] }]
}

function isSameIncarnation(one: Stored<KubeObject>, other: Stored<KubeObject>): boolean {
  return one.metadata.uid === other.metadata.uid
}

function keyOf(object: Stored<KubeObject>): ObjectKey {
  const { namespace, name } = object.metadata
  return namespace === undefined ? { name } : { namespace, name }
}
