/** Quantities such as `500m` and `1Gi`: parsing, comparison and the canonical format. */

/** A number with the notation it was written in. */
export interface Quantity {
  /** The value is `unscaled` × 10 to the power of `exponent`. */
  readonly unscaled: bigint
  readonly exponent: number
  readonly notation: 'decimal' | 'binary' | 'exponent'
}

/** A text that is not a quantity; the message is the API server's. */
export class QuantityError extends Error {
  readonly code = 'InvalidQuantity'

  constructor(message: string) {
    super(message)
    this.name = 'QuantityError'
  }
}

const NANO = -9
const MILLI = -3
/** Longer texts and larger exponents are not realistic, and would make arithmetic expensive. */
const MAX_LENGTH = 512
const MAX_EXPONENT = 9999
const MAX_BINARY = 2n ** 63n - 1n

const format = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/
const formatText = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

interface Parts {
  readonly isNegative: boolean
  readonly whole: string
  readonly fraction: string
  readonly notation: Quantity['notation']
  /** A power of ten or, in binary notation, of two. */
  readonly exponent: number
}

function split(text: string): Parts {
  if (text.length > MAX_LENGTH) throw new QuantityError('unable to parse numeric part of quantity')
  const match = format.exec(text)
  if (match === null || text === '' || !/^[+-]?[\d.]/.test(text)) throw new QuantityError(formatText)
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match
  const base = { isNegative: sign === '-', whole: whole.replace(/^0+/, '') || '0', fraction }
  const decimal = decimalSuffixes.indexOf(suffix)
  if (decimal >= 0) return { ...base, notation: 'decimal', exponent: (decimal - 3) * 3 }
  const binary = binarySuffixes.indexOf(suffix)
  if (binary >= 0) return { ...base, notation: 'binary', exponent: binary * 10 }
  const exponent = /^[eE]([-+]?\d+)$/.exec(suffix)?.[1]
  if (exponent === undefined || Math.abs(Number(exponent)) > MAX_EXPONENT) {
    throw new QuantityError("unable to parse quantity's suffix")
  }
  return { ...base, notation: 'exponent', exponent: Number(exponent) }
}

/** Parses a quantity. Fractions below a billionth are rounded up, away from zero. Throws {@link QuantityError}. */
export function parseQuantity(text: string): Quantity {
  return toQuantity(split(text))
}

function toQuantity({ isNegative, whole, fraction, notation, exponent }: Parts): Quantity {
  const digits = BigInt(whole + fraction)
  const amount = notation === 'binary' ? digits * 2n ** BigInt(exponent) : digits
  const scale = notation === 'binary' ? -fraction.length : exponent - fraction.length
  let rounded = roundUp({ unscaled: amount, exponent: scale, notation }, NANO)
  if (notation === 'binary') {
    const max = { unscaled: MAX_BINARY, exponent: 0, notation }
    if (compareQuantities(rounded, max) > 0) rounded = max
  }
  return isNegative ? { ...rounded, unscaled: -rounded.unscaled } : rounded
}

/** Negative if `a` is smaller, zero if both are the same number. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const exponent = Math.min(a.exponent, b.exponent)
  const left = a.unscaled * 10n ** BigInt(a.exponent - exponent)
  const right = b.unscaled * 10n ** BigInt(b.exponent - exponent)
  return left < right ? -1 : left > right ? 1 : 0
}

/** A quantity of a whole number. */
export function wholeQuantity(unscaled: bigint): Quantity {
  return { unscaled, exponent: 0, notation: 'decimal' }
}

/** The sum, in the notation of the first one that is not zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const exponent = Math.min(a.exponent, b.exponent)
  const left = a.unscaled * 10n ** BigInt(a.exponent - exponent)
  const right = b.unscaled * 10n ** BigInt(b.exponent - exponent)
  return { unscaled: left + right, exponent, notation: a.unscaled === 0n ? b.notation : a.notation }
}

/** Whether a quantity is an integer. */
export function isWholeNumber(quantity: Quantity): boolean {
  return compareQuantities(roundUp(quantity, 0), quantity) === 0
}

/** The nearest number of JavaScript. */
export function toNumber({ unscaled, exponent }: Quantity): number {
  // Without the check, zero with a large exponent would not be a number.
  if (unscaled === 0n) return 0
  return exponent < 0 ? Number(unscaled) / 10 ** -exponent : Number(unscaled) * 10 ** exponent
}

/** `quantity` without digits below 10 to the power of `exponent`, rounded away from zero. */
function roundUp(quantity: Quantity, exponent: number): Quantity {
  if (quantity.exponent >= exponent) return quantity
  const divisor = 10n ** BigInt(exponent - quantity.exponent)
  const magnitude = quantity.unscaled < 0n ? -quantity.unscaled : quantity.unscaled
  const rounded = (magnitude + divisor - 1n) / divisor
  return { ...quantity, unscaled: quantity.unscaled < 0n ? -rounded : rounded, exponent }
}

/** Options of {@link canonicalQuantity}. */
export interface CanonicalOptions {
  /** Round up to thousandths, as resource lists do. @default false */
  readonly milli?: boolean
}

/**
 * The form in which the API stores a quantity. Throws {@link QuantityError}.
 *
 * @example
 * canonicalQuantity('0.5') // '500m'
 * canonicalQuantity('1024Mi') // '1Gi'
 */
export function canonicalQuantity(text: string, options: CanonicalOptions = {}): string {
  if (text === '0') return text
  const parts = split(text)
  const { milli = false } = options
  if (isTakenAsWritten(parts, milli)) return text
  const value = toQuantity(parts)
  return formatQuantity(milli ? roundUp(value, MILLI) : value)
}

/**
 * The API keeps a text whose digits look canonical without comparing it with the canonical form, so `+5`, `1.` and
 * `1E3` stay unchanged.
 */
function isTakenAsWritten(parts: Parts, milli: boolean): boolean {
  const { whole, fraction, notation, exponent } = parts
  const digits = whole + fraction
  if (notation === 'binary') {
    if (fraction !== '' || digits.length + Math.trunc((exponent * 3) / 10) > 14) return false
    return BigInt(digits) % 8n !== 0n
  }
  const scale = exponent - fraction.length
  if (digits.length > 18 || scale < (milli ? MILLI : NANO)) return false
  return scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
}

/** The canonical text of a quantity: the largest suffix that leaves no fraction. */
export function formatQuantity(quantity: Quantity): string {
  const { unscaled, notation } = quantity
  if (unscaled === 0n) return '0'
  const isSmall = compareMagnitude(quantity, 1024n) < 0
  if (notation === 'binary' && !isSmall && isWholeNumber(quantity)) return formatBinary(quantity)
  let mantissa = unscaled
  let { exponent } = quantity
  while (mantissa % 10n === 0n) {
    mantissa /= 10n
    exponent += 1
  }
  while (exponent % 3 !== 0) {
    mantissa *= 10n
    exponent -= 1
  }
  if (notation === 'exponent') return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`
  // There is no suffix beyond E.
  for (; exponent > 18; exponent -= 3) mantissa *= 1000n
  return `${mantissa}${decimalSuffixes[exponent / 3 + 3]}`
}

function compareMagnitude(quantity: Quantity, limit: bigint): number {
  const magnitude = quantity.unscaled < 0n ? -quantity.unscaled : quantity.unscaled
  return compareQuantities({ ...quantity, unscaled: magnitude }, { unscaled: limit, exponent: 0, notation: 'decimal' })
}

function formatBinary(quantity: Quantity): string {
  let value = quantity.unscaled
  if (quantity.exponent >= 0) value *= 10n ** BigInt(quantity.exponent)
  else value /= 10n ** BigInt(-quantity.exponent)
  let suffix = 0
  while (value % 1024n === 0n && suffix < binarySuffixes.length - 1) {
    value /= 1024n
    suffix += 1
  }
  return `${value}${binarySuffixes[suffix]}`
}
