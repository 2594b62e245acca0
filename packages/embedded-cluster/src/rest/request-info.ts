/** What a URL and a method ask for, in the vocabulary of the API: verb, resource, namespace, name, subresource. */

/** A request for a resource, before anything is known about whether it exists. */
export interface RequestInfo {
  readonly verb: 'create' | 'get' | 'list' | 'watch' | 'update' | 'patch' | 'delete' | 'deletecollection'
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  /** What follows the subresource, as in `pods/x/proxy/this/part`. */
  readonly rest: string | undefined
  readonly query: URLSearchParams
}

const verbs: Readonly<Record<string, RequestInfo['verb']>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** Reads a resource path; `undefined` when the path is not one (`/version`, `/apis/apps`, nonsense). */
export function parseRequestInfo(method: string, pathname: string, query: URLSearchParams): RequestInfo | undefined {
  const segments = decodeSegments(pathname)
  if (segments === undefined) return undefined
  let [root, ...parts] = segments
  let group = ''
  if (root === 'apis') {
    group = parts[0] ?? ''
    parts = parts.slice(1)
    if (group === '') return undefined
  } else if (root !== 'api') return undefined
  const version = parts[0]
  let path = parts.slice(1)
  if (version === undefined || path.length === 0) return undefined

  let isWatch = false
  if (path[0] === 'watch') {
    isWatch = true
    path = path.slice(1)
  }
  let namespace: string | undefined
  if (path[0] === 'namespaces' && path.length > 2 && path[2] !== 'status' && path[2] !== 'finalize') {
    namespace = path[1]
    path = path.slice(2)
  }
  const [resource, name, subresource, ...rest] = path
  if (resource === undefined || resource === '') return undefined
  let verb = verbs[method]
  if (verb === undefined) return undefined
  if (verb === 'get' && name === undefined) verb = 'list'
  if (verb === 'delete' && name === undefined) verb = 'deletecollection'
  if ((verb === 'list' || (verb === 'get' && isWatch)) && (isWatch || isTrue(query.get('watch')))) verb = 'watch'
  return {
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    rest: rest.length === 0 ? undefined : rest.join('/'),
    query,
  }
}

/** A boolean query parameter; absent is false, present without a value is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0'
}

function decodeSegments(pathname: string): string[] | undefined {
  try {
    // Read before it is split, as the real server does: an escaped slash is a slash.
    const segments = decodeURIComponent(pathname).split('/').slice(1)
    if (segments.at(-1) === '') segments.pop()
    return segments
  } catch {
    // A malformed percent escape cannot name anything that exists.
    return undefined
  }
}
