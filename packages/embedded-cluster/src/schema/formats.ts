/** The string formats that the API server supports. Unknown formats accept everything. */
import { isIP, isIPv4, isIPv6 } from 'node:net'

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const anyUuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/
const byteValue = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'
const rgb = new RegExp(`^rgb\\(\\s*${byteValue}\\s*,\\s*${byteValue}\\s*,\\s*${byteValue}\\s*\\)$`)
// One label, or several of which the last has at least two letters and only letters.
const hostname =
  /^[\d\p{S}\p{L}](-?[\d\p{S}\p{L}]{0,62})?$|^([\d\p{S}\p{L}]([-\d\p{S}\p{L}]{0,61}[\d\p{S}\p{L}])?\.)+\p{L}{2,63}$/u
const mac =
  /^(?:[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?)$/i
const time = /^(\d\d):(\d\d):(\d\d)(\.\d+)?(z|[+-]\d\d:\d\d)$/i

const checks: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  byte: (text) => base64.test(text),
  cidr: isCidr,
  creditcard: isCreditCard,
  date: isDate,
  'date-time': isDateTime,
  datetime: isDateTime,
  duration: isDuration,
  email: (text) => /^(?:[^<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text),
  hostname: (text) => text.length <= 255 && hostname.test(text),
  ipv4: (text) => isIPv4(withoutLeadingZeros(text)) || /^::ffff:[\d.]+$/i.test(text),
  ipv6: (text) => isIPv6(text) && !text.includes('%'),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  'k8s-long-name': (text) => text.length <= 253 && dnsSubdomain.test(text),
  'k8s-short-name': (text) => dnsLabel.test(text),
  mac: (text) => mac.test(text),
  rgbcolor: (text) => rgb.test(text),
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  uri: isRequestUri,
  uuid: (text) => anyUuid.test(text),
  uuid3: (text) => anyUuid.test(text) && versionOf(text) === '3',
  uuid4: (text) => anyUuid.test(text) && versionOf(text) === '4' && hasVariant(text),
  uuid5: (text) => anyUuid.test(text) && versionOf(text) === '5' && hasVariant(text),
}

/** Whether `text` has the format; `true` for formats that are unknown or not checked, such as `password`. */
export function matchesFormat(format: string, text: string): boolean {
  const check = Object.hasOwn(checks, format) ? checks[format] : undefined
  return check === undefined || check(text)
}

/** The API server accepts leading zeros, which other parsers reject or read as octal. */
function withoutLeadingZeros(address: string): string {
  return address.replaceAll(/(^|\.)0+(?=\d)/g, '$1')
}

function isCidr(text: string): boolean {
  const [given = '', bits = '', ...rest] = text.split('/')
  const address = withoutLeadingZeros(given)
  const family = isIP(address)
  if (rest.length > 0 || family === 0 || address.includes('%') || !/^(0|[1-9]\d{0,2})$/.test(bits)) return false
  return Number(bits) <= (family === 4 ? 32 : 128)
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (match === null) return false
  const [, year, month, day] = match.map(Number)
  const date = new Date(0)
  date.setUTCFullYear(year ?? 0, (month ?? 0) - 1, day ?? 0)
  return date.getUTCMonth() + 1 === month && date.getUTCDate() === day
}

function isDateTime(text: string): boolean {
  const match = /^([^t]*)t(.*)$/i.exec(text)
  const clock = time.exec(match?.[2] ?? '')
  if (match === null || clock === null || !isDate(match[1] ?? '')) return false
  return Number(clock[1]) < 24 && Number(clock[2]) < 60 && Number(clock[3]) < 60
}

const durationUnits = new Set(
  (
    'ns nano nanos us µs micro micros microsecond microseconds ms milli millis millisecond milliseconds ' +
    's sec secs second seconds m min mins minute minutes h hr hrs hour hours d day days w wk wks week weeks'
  ).split(' '),
)

/** Go's `1h30m`, and the looser `3 days` that the API server also accepts. */
function isDuration(text: string): boolean {
  if (/^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(text)) return true
  // A number begins where no digit stands before it: tried from each of its digits, a long one would take minutes.
  const parts = [...text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)]
  return parts.length > 0 && parts.every(([, , unit = '']) => durationUnits.has(unit.toLowerCase()))
}

/** A valid request target: an absolute URL or an absolute path. */
function isRequestUri(text: string): boolean {
  if (text.startsWith('/')) return !/[\s\p{Cc}]/u.test(text)
  return /^[a-z][a-z0-9+.-]*:[^\s]/i.test(text) && URL.canParse(text)
}

function versionOf(uuid: string): string {
  return uuid.replaceAll('-', '').charAt(12)
}

function hasVariant(uuid: string): boolean {
  return /[89ab]/i.test(uuid.replaceAll('-', '').charAt(16))
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, '')
  if (!/^\d{13,19}$/.test(digits)) return false
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

function isIsbn10(text: string): boolean {
  const code = text.replaceAll(/[\s-]/g, '')
  if (!/^\d{9}[\dX]$/.test(code)) return false
  const sum = [...code].reduce((total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const code = text.replaceAll(/[\s-]/g, '')
  if (!/^\d{13}$/.test(code)) return false
  const sum = [...code].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0)
  return sum % 10 === 0
}
