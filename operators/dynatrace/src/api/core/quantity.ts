/**
 * Quantities of Kubernetes: which texts are some, and the one form that the API server stores. `1024Mi` is `1Gi`,
 * `1000m` is `1`.
 *
 * Every text may come from a stranger, such as the annotation of a pod. Its length and exponent are bounded before
 * anything is calculated, as `1e99999999` would take minutes.
 */

const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const
const NANO = -9
const MAX_LENGTH = 512
const MAX_EXPONENT = 1_000
/** More cannot be counted in binary units; the API server stores this instead. */
const MAX_BINARY = 2n ** 63n - 1n

/** Sign, digits and one suffix. As in Kubernetes, a fraction in the exponent is an error and digits may be absent. */
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i))?$/

interface Parts {
  readonly isNegative: boolean
  readonly digits: string
  /** Of ten. */
  readonly power: number
  /** Of 1024; 0 for any notation that is not binary. */
  readonly binaryPower: number
  readonly isExponent: boolean
}

function parse(text: string): Parts | undefined {
  const match = text === '' || text.length > MAX_LENGTH ? null : QUANTITY.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match
  if (Math.abs(Number(exponent ?? 0)) > MAX_EXPONENT) return undefined
  const binaryPower = Math.max(0, BINARY.indexOf(suffix as (typeof BINARY)[number]))
  const decimal = (DECIMAL.indexOf(suffix as (typeof DECIMAL)[number]) - 3) * 3
  return {
    isNegative: sign === '-',
    digits: (whole.replace(/^0+/, '') || '0') + fraction,
    power: (binaryPower > 0 ? 0 : Number(exponent ?? decimal)) - fraction.length,
    binaryPower,
    isExponent: exponent !== undefined,
  }
}

/**
 * Whether Kubernetes can decode a value as a quantity. One that is too large to calculate with counts as malformed.
 *
 * @example
 * isQuantity('1.5Gi') // true
 * isQuantity('1e1.5') // false
 */
export function isQuantity(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && parse(trimmed(value)) !== undefined)
}

/**
 * The canonical form of a quantity; invalid text is returned unchanged, for the server to reject.
 *
 * @example
 * canonicalQuantity('1024Mi') // '1Gi'
 */
export function canonicalQuantity(text: string): string {
  const written = trimmed(text)
  const parts = parse(written)
  if (parts === undefined) return text
  if (isTakenAsWritten(parts)) return written
  const magnitude = format(parts)
  return parts.isNegative && magnitude !== '0' ? `-${magnitude}` : magnitude
}

const trimmed = (text: string): string => text.replace(/^ +| +$/g, '')

/** The API keeps what looks canonical by its digits, without calculating: `+5`, `1.` and `1E3` stay as they are. */
function isTakenAsWritten({ digits, power, binaryPower }: Parts): boolean {
  if (binaryPower > 0) return power === 0 && digits.length + binaryPower * 3 <= 14 && BigInt(digits) % 8n !== 0n
  const isShort = digits.length <= 18 && power >= NANO && power % 3 === 0
  return isShort && !digits.startsWith('0') && !digits.endsWith('000')
}

function format({ digits, power, binaryPower, isExponent }: Parts): string {
  let mantissa = BigInt(digits) * 1024n ** BigInt(binaryPower)
  let exponent = power
  if (exponent < NANO) {
    const divisor = 10n ** BigInt(NANO - exponent)
    // Rounded up: no quantity is ever rounded to nothing.
    mantissa = (mantissa + divisor - 1n) / divisor
    exponent = NANO
  }
  if (mantissa === 0n) return '0'
  if (binaryPower > 0) {
    const unit = 10n ** BigInt(-exponent)
    if (mantissa > MAX_BINARY * unit) return inBinary(MAX_BINARY)
    if (mantissa >= 1024n * unit && mantissa % unit === 0n) return inBinary(mantissa / unit)
  }
  for (; mantissa % 10n === 0n; exponent += 1) mantissa /= 10n
  for (; exponent % 3 !== 0; exponent -= 1) mantissa *= 10n
  if (isExponent) return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`
  // There is no suffix beyond E.
  for (; exponent > 18; exponent -= 3) mantissa *= 1000n
  return `${mantissa}${DECIMAL[exponent / 3 + 3]}`
}

function inBinary(amount: bigint): string {
  let mantissa = amount
  let index = 0
  for (; mantissa % 1024n === 0n && index < BINARY.length - 1; index += 1) mantissa /= 1024n
  return `${mantissa}${BINARY[index]}`
}
