/** IP addresses, networks and URLs in expressions. */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { CelError } from '../cel-error.ts'
import { dyn } from '../static-type.ts'
import { CelObject, type CelValue } from '../values.ts'
import { type CelFunction, celFunction, type FunctionTable } from './cel-function.ts'

/** An IP address. */
class CelIp extends CelObject {
  override readonly typeName = 'net.IP'
  readonly text: string
  readonly bytes: readonly number[]

  constructor(text: string) {
    super()
    this.text = text
    this.bytes = ipBytes(text)
  }

  override equals(other: CelObject): boolean {
    return other instanceof CelIp && other.bytes.join() === this.bytes.join()
  }

  /** The string form for `string()`. */
  toText(): string {
    return canonicalIp(this.text)
  }
}

/** A network: an address and its prefix length. */
class CelCidr extends CelObject {
  override readonly typeName = 'net.CIDR'
  readonly ip: CelIp
  readonly prefix: number

  constructor(ip: CelIp, prefix: number) {
    super()
    this.ip = ip
    this.prefix = prefix
  }

  override equals(other: CelObject): boolean {
    return other instanceof CelCidr && other.prefix === this.prefix && other.ip.equals(this.ip)
  }

  /** The string form for `string()`. */
  toText(): string {
    return `${this.ip.toText()}/${this.prefix}`
  }
}

/** An absolute URL or path, as in an HTTP request line. */
class CelUrl extends CelObject {
  override readonly typeName = 'kubernetes.URL'
  readonly url: URL
  readonly text: string
  readonly isAbsolute: boolean

  constructor(text: string, url: URL, isAbsolute: boolean) {
    super()
    this.text = text
    this.url = url
    this.isAbsolute = isAbsolute
  }

  override equals(other: CelObject): boolean {
    return other instanceof CelUrl && other.text === this.text
  }

  /** The string form for `string()`. */
  toText(): string {
    return this.text
  }
}

function ipBytes(text: string): number[] {
  if (isIPv4(text)) return text.split('.').map(Number)
  const full = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const [head = '', tail] = full.split('::')
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const [first, last] = [groups(head), tail === undefined ? [] : groups(tail)]
  const words = tail === undefined ? first : [...first, ...new Array(8 - first.length - last.length).fill(0), ...last]
  return words.flatMap((word) => [word >> 8, word & 0xff])
}

function canonicalIp(text: string): string {
  return isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text
}

function parseIp(text: string): CelIp | undefined {
  // Zones and IPv4-mapped IPv6 addresses are not supported.
  return isIP(text) === 0 || text.includes('%') || /:.*\./.test(text) ? undefined : new CelIp(text)
}

function parseCidr(text: string): CelCidr | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text)
  const ip = match?.[1] === undefined ? undefined : parseIp(match[1])
  const prefix = Number(match?.[2])
  return ip === undefined || prefix > ip.bytes.length * 8 ? undefined : new CelCidr(ip, prefix)
}

function masked({ ip, prefix }: CelCidr): CelCidr {
  const bytes = ip.bytes.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefix - index * 8))
    return byte & (0xff << (8 - bits)) & 0xff
  })
  return new CelCidr(new CelIp(ipText(bytes)), prefix)
}

function ipText(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.')
  const words = Array.from({ length: 8 }, (_, index) => ((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0))
  return canonicalIp(words.map((word) => word.toString(16)).join(':'))
}

function contains(network: CelCidr, ip: CelIp): boolean {
  if (network.ip.bytes.length !== ip.bytes.length) return false
  const list = new BlockList()
  const family = ip.bytes.length === 4 ? 'ipv4' : 'ipv6'
  list.addSubnet(network.ip.text, network.prefix, family)
  return list.check(ip.text, family)
}

function parseUrl(text: string): CelUrl | undefined {
  if (text.startsWith('/')) return new CelUrl(text, new URL(text, 'http://unknown'), false)
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text) ? new CelUrl(text, new URL(text), true) : undefined
}

function parser(
  kind: 'ip' | 'cidr' | 'url',
  parse: (text: string) => CelObject | undefined,
  failure: (text: string) => CelError,
): CelFunction {
  return celFunction(kind, ([text]) => {
    if (typeof text !== 'string') return undefined
    const parsed = parse(text)
    if (parsed === undefined) throw failure(text)
    return parsed
  })
}

function notAnIp(text: string): CelError {
  const shown = JSON.stringify(text)
  return new CelError(
    `IP Address ${shown} parse error during conversion from string: ParseAddr(${shown}): unable to parse IP`,
  )
}

function notReadable(what: string): (text: string) => CelError {
  return (text) => new CelError(`${what} ${JSON.stringify(text)} parse error during conversion from string`)
}

function tester(parse: (text: string) => CelObject | undefined): CelFunction {
  return celFunction('bool', ([text]) => (typeof text === 'string' ? parse(text) !== undefined : undefined))
}

/** Functions that parse and test addresses, networks and URLs. */
export const networkFunctions: FunctionTable = {
  cidr: parser('cidr', parseCidr, notReadable('network address')),
  ip: parser('ip', parseIp, notAnIp),
  isCIDR: tester(parseCidr),
  isIP: tester(parseIp),
  isURL: tester(parseUrl),
  url: parser('url', parseUrl, notReadable('URL')),
}

/** Functions of the namespace `ip`. */
export const ipFunctions: FunctionTable = {
  'ip.isCanonical': celFunction('bool', ([text]) => {
    if (typeof text !== 'string') return undefined
    const ip = parseIp(text)
    if (ip === undefined) throw notAnIp(text)
    return ip.toText() === text
  }),
}

/** Methods of addresses, networks and URLs. */
export const networkMethods: FunctionTable = {
  containsCIDR: celFunction('bool', ([network, other]) => {
    const inner = typeof other === 'string' ? parseCidr(other) : other
    if (!(network instanceof CelCidr) || !(inner instanceof CelCidr)) return undefined
    return inner.prefix >= network.prefix && contains(network, inner.ip)
  }),
  containsIP: celFunction('bool', ([network, other]) => {
    const ip = typeof other === 'string' ? parseIp(other) : other
    return network instanceof CelCidr && ip instanceof CelIp ? contains(network, ip) : undefined
  }),
  family: ipMethod('int', (ip) => (ip.bytes.length === 4 ? 4n : 6n)),
  getEscapedPath: urlMethod(({ url }) => url.pathname),
  getHost: urlMethod(({ url, isAbsolute }) => (isAbsolute ? url.host : '')),
  getHostname: urlMethod(({ url, isAbsolute }) => (isAbsolute ? url.hostname.replace(/^\[|\]$/g, '') : '')),
  getPort: urlMethod(({ url, isAbsolute }) => (isAbsolute ? url.port : '')),
  getQuery: {
    result: { kind: 'map', keys: dyn, values: dyn },
    call: ([value]) => {
      if (!(value instanceof CelUrl)) return undefined
      return new Map<CelValue, CelValue>(
        Map.groupBy(value.url.searchParams, ([name]) => name)
          .entries()
          .map(([name, pairs]) => [name, pairs.map(([, text]) => text)]),
      )
    },
  },
  getScheme: urlMethod(({ url, isAbsolute }) => (isAbsolute ? url.protocol.slice(0, -1) : '')),
  ip: celFunction('ip', ([network]) => (network instanceof CelCidr ? network.ip : undefined)),
  isGlobalUnicast: ipMethod(
    'bool',
    (ip) => !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocal(ip),
  ),
  isLinkLocalMulticast: ipMethod('bool', ({ bytes }) => {
    return bytes.length === 4
      ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0
      : bytes[0] === 0xff && (bytes[1] ?? 0) % 16 === 2
  }),
  isLinkLocalUnicast: ipMethod('bool', isLinkLocal),
  isLoopback: ipMethod('bool', isLoopback),
  isUnspecified: ipMethod('bool', isUnspecified),
  masked: celFunction('cidr', ([network]) => (network instanceof CelCidr ? masked(network) : undefined)),
  prefixLength: celFunction('int', ([network]) => (network instanceof CelCidr ? BigInt(network.prefix) : undefined)),
}

function ipMethod(result: 'int' | 'bool', call: (ip: CelIp) => CelValue): CelFunction {
  return celFunction(result, ([ip]) => (ip instanceof CelIp ? call(ip) : undefined))
}

function urlMethod(call: (url: CelUrl) => string): CelFunction {
  return celFunction('string', ([url]) => (url instanceof CelUrl ? call(url) : undefined))
}

function isUnspecified({ bytes }: CelIp): boolean {
  return bytes.every((byte) => byte === 0)
}

function isLoopback({ bytes }: CelIp): boolean {
  return bytes.length === 4 ? bytes[0] === 127 : bytes.slice(0, 15).every((byte) => byte === 0) && bytes[15] === 1
}

function isMulticast({ bytes }: CelIp): boolean {
  return bytes.length === 4 ? (bytes[0] ?? 0) >> 4 === 14 : bytes[0] === 0xff
}

function isLinkLocal({ bytes }: CelIp): boolean {
  return bytes.length === 4 ? bytes[0] === 169 && bytes[1] === 254 : bytes[0] === 0xfe && (bytes[1] ?? 0) >> 6 === 2
}
