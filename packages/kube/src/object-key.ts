/** Keys of objects, for maps and logs. */
import { InvalidRequestError } from './errors.ts'
import type { KubeObject, ObjectKey } from './objects.ts'

/**
 * The key of an object that has a name.
 *
 * @example
 * const deployment = await client.get(Deployments, objectKey(webApp))
 */
export function objectKey(object: KubeObject): ObjectKey {
  const { name, namespace } = object.metadata
  if (!name) throw new InvalidRequestError(`${object.kind} without metadata.name`)
  return namespace ? { namespace, name } : { name }
}

/** `namespace/name`, or `name` for cluster-scoped objects. */
export function formatKey(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name
}

/** The reverse of {@link formatKey}. */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/')
  return slash === -1 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}
