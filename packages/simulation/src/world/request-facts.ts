/** What a request is about, read from its method and path. */
import type { TransportRequest } from '@reeve/http'
import { isProtobuf, nameInProtobuf } from './protobuf-name.ts'

/** A request of the operator under test. */
export interface RequestFacts {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb: string
  /** `plural` or `plural.group`; empty for paths that are not a resource. */
  readonly resource: string
  readonly namespace: string | undefined
  /** For a path that is not a resource, that path: two concurrent discovery requests differ. */
  readonly name: string | undefined
  readonly subresource: string | undefined
  /** Of a list or watch, which labels or fields choose its objects. */
  readonly selector: string | undefined
  /** Of a list or watch: `0` accepts any age, absent requests the newest. */
  readonly resourceVersion: string | undefined
  readonly isWrite: boolean
}

const WRITES: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** Reads the facts. A created object's name is found in the body, where the path has none. */
export function requestFacts(request: TransportRequest): RequestFacts {
  const [pathname = '', query = ''] = request.path.split('?')
  const parts = pathname.split('/').filter((part) => part !== '')
  const isCore = parts[0] === 'api'
  const isGroup = parts[0] === 'apis'
  const rest = isCore ? parts.slice(2) : isGroup ? parts.slice(3) : []
  if (rest.length === 0) {
    const verb = request.method.toLowerCase()
    const nothing = { namespace: undefined, subresource: undefined, selector: undefined, resourceVersion: undefined }
    return { ...nothing, verb, resource: '', name: pathname, isWrite: false }
  }
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2
  const [plural = '', name, subresource] = isNamespaced ? rest.slice(2) : rest
  const group = isGroup ? parts[1] : undefined
  const verb = verbOf(request.method, name, query)
  return {
    verb,
    resource: group === undefined ? plural : `${plural}.${group}`,
    namespace: isNamespaced ? rest[1] : undefined,
    name: name ?? (verb === 'create' ? nameIn(request.body) : undefined),
    subresource,
    ...selectionIn(query),
    isWrite: request.method !== 'GET',
  }
}

function verbOf(method: string, name: string | undefined, query: string): string {
  if (method === 'GET') {
    if (/(^|&)watch=(true|1)/.test(query)) return 'watch'
    return name === undefined ? 'list' : 'get'
  }
  return method === 'DELETE' && name === undefined ? 'deletecollection' : (WRITES[method] ?? method.toLowerCase())
}

function selectionIn(query: string): Pick<RequestFacts, 'selector' | 'resourceVersion'> {
  // Most requests are about one object, or about all of a kind.
  if (!query.includes('Selector='))
    return { selector: undefined, resourceVersion: /(?:^|&)resourceVersion=([^&]*)/.exec(query)?.[1] }
  const parameters = new URLSearchParams(query)
  const selectors = ['labelSelector', 'fieldSelector'].flatMap((name) => parameters.get(name) ?? [])
  const resourceVersion = parameters.get('resourceVersion') ?? undefined
  return { selector: selectors.length === 0 ? undefined : selectors.join(','), resourceVersion }
}

/** As most clients write an object. */
const NAME_FIRST = /^\{"apiVersion":"[^"\\]+","kind":"[^"\\]+","metadata":\{"name":"([^"\\]+)"/

function nameIn(body: string | Uint8Array | undefined): string | undefined {
  if (body === undefined) return undefined
  if (typeof body !== 'string' && isProtobuf(body)) return nameInProtobuf(body)
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  const found = NAME_FIRST.exec(text)
  if (found !== null) return found[1]
  const object = JSON.parse(text) as {
    readonly metadata?: { readonly name?: string }
  }
  return object.metadata?.name
}

/** `create deployments.apps default/shop`, as traces and points show it. */
export function describeRequest({ verb, resource, namespace, name, subresource, selector = '' }: RequestFacts): string {
  const key = [namespace, name].filter((part) => part !== undefined).join('/')
  const target = subresource === undefined ? resource : `${resource}/${subresource}`
  return [verb, target, key, selector].filter((part) => part !== '').join(' ')
}

/** What a list or watch chooses: an operator may follow one kind by several streams. */
export function selectionId({
  resource,
  namespace = '',
  selector = '',
}: Pick<RequestFacts, 'resource' | 'namespace' | 'selector'>): string {
  return `${resource} ${namespace} ${selector}`
}

/** Which object a request is about: the key of counters. */
export function objectId({ resource, namespace, name }: Pick<RequestFacts, 'resource' | 'namespace' | 'name'>): string {
  return `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`
}

/** Whether an id such as `secrets default/login` matches; `*` stands for any text. */
export function matchesId(pattern: string, id: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(id)
}

/** What candidates for leadership renew all the time. */
export const LEASES = 'leases.coordination.k8s.io'

/** Events, in both of their groups. */
export const EVENTS: ReadonlySet<string> = new Set(['events', 'events.events.k8s.io'])

/** Leases and events are how an operator lives and talks, not what it manages. */
export function isBookkeeping(resource: string): boolean {
  return resource === LEASES || EVENTS.has(resource)
}

/** The texts that occur most often, and how often. */
export function mostFrequent(texts: readonly string[]): string {
  return [...Map.groupBy(texts, (text) => text)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .slice(0, 3)
    .map(([text, { length }]) => `${text} (${length} of ${texts.length})`)
    .join(', ')
}
