/** Reads URLs as RFC 3986 does, without judging or rewriting them as the URL class of the platform would. */

/** The parts of a URL, as they are written. */
export interface UrlReference {
  /** In lower case, without the colon; empty for a relative reference. */
  readonly scheme: string
  /** Before the `@`, still percent-encoded; absent without one. */
  readonly userInfo?: string
  /** With its port, if it has one. */
  readonly host: string
  /** Without the port. */
  readonly hostname: string
  readonly path: string
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/
const USER_INFO = /^[A-Za-z0-9\-._~!$&'()*+,;=:%@]*$/
const HOST = /^[A-Za-z0-9\-._~!$&'()*+,;=:<>"%\u0080-\u{10ffff}]*$/u
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/
/** In a host only the percent sign itself and bytes beyond ASCII may be escaped. */
const BAD_HOST_ESCAPE = /%(?!25|[89A-Fa-f][0-9A-Fa-f])/

/** The parts, or `undefined` when the text cannot be a URL at all. */
export function parseUrl(text: string): UrlReference | undefined {
  if (hasControlCharacter(text) || text.startsWith(':')) return undefined
  const [withoutFragment = '', ...fragment] = text.split('#')
  if (BAD_ESCAPE.test(fragment.join('#'))) return undefined
  const [reference = ''] = withoutFragment.split('?')
  const [prefix = '', name = ''] = SCHEME.exec(reference) ?? []
  const rest = reference.slice(prefix.length)
  const scheme = name.toLowerCase()
  if (scheme !== '' && !rest.startsWith('/')) return { scheme, host: '', hostname: '', path: rest }
  if (scheme === '' && /^[^/]*:/.test(rest)) return undefined
  if (!rest.startsWith('//')) {
    return BAD_ESCAPE.test(rest) ? undefined : { scheme, host: '', hostname: '', path: rest }
  }
  const slash = rest.indexOf('/', 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  const path = slash < 0 ? '' : rest.slice(slash)
  const parts = parseAuthority(authority)
  return parts === undefined || BAD_ESCAPE.test(path) ? undefined : { scheme, path, ...parts }
}

function parseAuthority(authority: string): Pick<UrlReference, 'userInfo' | 'host' | 'hostname'> | undefined {
  const at = authority.lastIndexOf('@')
  const userInfo = at < 0 ? undefined : authority.slice(0, at)
  if (userInfo !== undefined && (!USER_INFO.test(userInfo) || BAD_ESCAPE.test(userInfo))) return undefined
  const host = authority.slice(at + 1)
  const hostname = parseHost(host)
  return hostname === undefined ? undefined : { host, hostname, ...(userInfo !== undefined && { userInfo }) }
}

function parseHost(host: string): string | undefined {
  const bracketed = /^\[([^[\]]*)\](?::[0-9]*)?$/.exec(host)
  if (bracketed) return bracketed[1]
  if (!HOST.test(host) || BAD_HOST_ESCAPE.test(host)) return undefined
  const colon = host.lastIndexOf(':')
  if (colon < 0) return host
  return /^[0-9]*$/.test(host.slice(colon + 1)) ? host.slice(0, colon) : undefined
}

function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

/**
 * Whether a text is a host, possibly with a port, and nothing else: in `evil.tld/.example.com`, which ends like a host of
 * `example.com`, all behind the slash is a path.
 *
 * @example
 * isBareHost('tenant.example.com:8443') // true
 * isBareHost('evil.tld/.example.com') // false
 */
export const isBareHost = (text: string): boolean => /^[^/\\?#@%\s]+$/.test(text)
