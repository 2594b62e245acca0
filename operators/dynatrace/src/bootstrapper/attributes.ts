/** Reads the attributes that the webhook sets for a pod and its containers. */
import {
  type ContainerAttributes,
  DEPRECATED_POD_ATTRIBUTES,
  POD_ATTRIBUTES,
  type PodAttribute,
} from '../injection-contract/attributes.ts'
import { inputError } from './bootstrap-error.ts'

/** The attributes of a pod. */
export interface PodAttributes {
  /** A known attribute; empty if it is not given. */
  known(name: PodAttribute): string
  /** All others, by name. */
  readonly userDefined: ReadonlyMap<string, string>
}

/**
 * Parses `key=value` arguments. A value cannot contain `=`: such arguments are dropped without an error. The last of
 * several with the same key counts.
 *
 * @example
 * parsePodAttributes(['k8s.pod.name=web-0', 'team=shop']).known('k8s.pod.name') // 'web-0'
 */
export function parsePodAttributes(attributes: readonly string[]): PodAttributes {
  const isKnown = (key: string) => POD_ATTRIBUTES.some((known) => known === key)
  const all = new Map<string, string>()
  for (const attribute of attributes) {
    const [key, value, ...more] = attribute.split('=')
    if (key !== undefined && value !== undefined && more.length === 0) all.set(key, value)
  }
  return {
    known: (name) => all.get(name) ?? '',
    userDefined: new Map([...all].filter(([key]) => !isKnown(key))),
  }
}

/**
 * Parses the JSON object of one container.
 *
 * *Errors*: `BOOTSTRAP_INPUT` if it is not such an object, or if its name cannot be the name of a folder.
 *
 * @example
 * parseContainer('{"k8s.container.name":"app"}')['k8s.container.name'] // 'app'
 */
export function parseContainer(json: string): ContainerAttributes {
  const value = parseObject(json)
  const texts = Object.entries(value).filter(([, text]) => typeof text === 'string')
  const name = value['k8s.container.name']
  // The name becomes a folder below the configuration volume and must not lead anywhere else.
  if (typeof name !== 'string' || !/^[\w.-]+$/.test(name) || /^\.+$/.test(name)) {
    throw inputError(`--attribute-container: k8s.container.name is missing or not a container name: ${json}`)
  }
  return { ...Object.fromEntries(texts), 'k8s.container.name': name }
}

/**
 * What is written about a container into its metadata files, sorted by key. The user's attributes win over equal ones.
 *
 * @example
 * metadataOf(pod, container).get('k8s.container.name') // 'app'
 */
export function metadataOf(pod: PodAttributes, container: ContainerAttributes): ReadonlyMap<string, string> {
  const given = (entries: readonly (readonly [string, PodAttribute])[]) =>
    entries.map(([key, name]) => [key, pod.known(name)] as const).filter(([, value]) => value !== '')
  const all = new Map([
    ...given(POD_ATTRIBUTES.map((name) => [name, name])),
    ['k8s.container.name', container['k8s.container.name']],
    ...given(Object.entries(DEPRECATED_POD_ATTRIBUTES)),
    ...pod.userDefined,
  ])
  return new Map([...all].toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

/**
 * The image of a container, as `registry/repository:tag@digest` without the parts that are not known.
 *
 * @example
 * imageOf({ 'container_image.repository': 'php', 'container_image.tags': 'fpm', 'k8s.container.name': 'app' }) // 'php:fpm'
 */
export function imageOf(container: ContainerAttributes): string {
  const registry = container['container_image.registry']
  const repository = container['container_image.repository'] ?? ''
  const tag = container['container_image.tags']
  const digest = container['container_image.digest']
  return `${registry ? `${registry}/` : ''}${repository}${tag ? `:${tag}` : ''}${digest ? `@${digest}` : ''}`
}

function parseObject(json: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw inputError(`--attribute-container: not valid JSON: ${json}`, error)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw inputError(`--attribute-container: not a JSON object: ${json}`)
}
