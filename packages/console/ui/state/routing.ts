/** The address of a page: `#/resources?kind=WebApp`. Everything that a user can choose is in it, so that it can be sent. */
import { useEffect, useState } from 'preact/hooks'

/** Where the user is. */
export interface Route {
  /** The first part, such as `resources`. */
  readonly page: string
  /** The other parts, decoded. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

/** Reads the address. */
function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [page = '', ...parts] = path.split('/').map(decode)
  return { page: page || 'resources', parts, query: new URLSearchParams(query) }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // A damaged link: shown as it is, and nothing will be found under it.
    return part
  }
}

/** The address of a page. */
export function linkTo(
  page: string,
  parts: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  const path = [page, ...parts].map(encodeURIComponent).join('/')
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const search = new URLSearchParams(given).toString()
  return `#/${path}${search === '' ? '' : `?${search}`}`
}

/** The address of a resource, by the id of its row. */
export function resourceLink(of: {
  readonly operator: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}): string {
  return linkTo('resource', [of.operator, of.kind, of.namespace ?? '', of.name])
}

/** The current route; components that use it follow the address. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = () => setHash(location.hash)
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return parseRoute(hash)
}

/** Changes one choice of the current page; typing does not fill the history. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const { page, parts, query } = parseRoute(location.hash)
  const all = { ...Object.fromEntries(query), ...changes }
  history.replaceState(null, '', linkTo(page, parts, all))
  dispatchEvent(new HashChangeEvent('hashchange'))
}
