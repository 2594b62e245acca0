/** Quantities of Kubernetes in the one form that the API server stores: `1024Mi` is `1Gi`, `1000m` is `1`. */

const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const
const NANO = 9
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d+)|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei))?$/

/**
 * The canonical form of a quantity; invalid text is returned unchanged, for the server to reject.
 *
 * @example
 * canonicalQuantity('1024Mi') // '1Gi'
 */
export function canonicalQuantity(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent, suffix = ''] = QUANTITY.exec(text) ?? []
  if (whole === '' && fraction === '') return text
  const digits = BigInt(`${whole}${fraction}`)
  const power = exponent === undefined ? 0 : Number(exponent.slice(1))
  const binary = BINARY.indexOf(suffix as (typeof BINARY)[number])
  const isBinary = suffix !== '' && binary > 0
  const scale = (isBinary ? 0 : (DECIMAL[suffix] ?? 0)) + power - fraction.length
  const nanos = scaled(digits * (isBinary ? 1024n ** BigInt(binary) : 1n), scale + NANO)
  const magnitude = isBinary && nanos >= 1024n * 10n ** 9n ? inBinary(nanos) : inDecimal(nanos, exponent !== undefined)
  return sign === '-' && magnitude !== '0' ? `-${magnitude}` : magnitude
}

/** Multiplies by a power of ten; what is smaller than one is rounded up, as no quantity is ever rounded to nothing. */
function scaled(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power)
  const divisor = 10n ** BigInt(-power)
  return (value + divisor - 1n) / divisor
}

function inDecimal(nanos: bigint, isExponent: boolean): string {
  if (nanos === 0n) return '0'
  let mantissa = nanos
  let power = -NANO
  while (mantissa % 1000n === 0n && power < 18) {
    mantissa /= 1000n
    power += 3
  }
  if (isExponent) return power === 0 ? `${mantissa}` : `${mantissa}e${power}`
  const suffix = Object.entries(DECIMAL).find(([, of]) => of === power)?.[0] ?? ''
  return `${mantissa}${suffix}`
}

function inBinary(nanos: bigint): string {
  let mantissa = scaled(nanos, -NANO)
  let index = 0
  while (mantissa % 1024n === 0n && index < BINARY.length - 1) {
    mantissa /= 1024n
    index += 1
  }
  return `${mantissa}${BINARY[index]}`
}
