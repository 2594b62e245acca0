/** Parses method and URL into verb, resource, namespace, name and subresource. */

/** A request for a resource, which may or may not exist. */
export interface RequestInfo {
  readonly verb: 'create' | 'get' | 'list' | 'watch' | 'update' | 'patch' | 'delete' | 'deletecollection'
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  /** The path after the subresource, as in `pods/x/proxy/this/part`. */
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

/** Parses a resource path; `undefined` when the path is not one (`/version`, `/apis/apps`). */
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
    // Decoded before it is split, as in the real server: an escaped slash is a slash.
    const segments = decodeURIComponent(pathname).split('/').slice(1)
    if (segments.at(-1) === '') segments.pop()
    return segments
  } catch {
    // A malformed percent escape cannot name an existing object.
    return undefined
  }
}
