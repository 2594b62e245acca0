/** Kubernetes quantities in expressions: `quantity('1.5Gi')`. */
import { CelError } from '../cel-error.ts'
import { CelObject, type CelValue } from '../values.ts'
import { type CelFunction, celFunction, type FunctionTable } from './cel-function.ts'

const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d+)|([KMGTPE]i|[numkMGTPE]))?$/
const binaryExponent = 'KMGTPE'
const decimalExponent: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
/** Quantities are exact to a billionth; they are stored as integer billionths. */
const scale = 1_000_000_000n
/** Numbers of many digits take time to read, and are not realistic amounts. */
const MAX_LENGTH = 1_000

/** An amount, such as of memory. */
export class CelQuantity extends CelObject {
  override readonly typeName = 'kubernetes.Quantity'
  readonly billionths: bigint

  constructor(billionths: bigint) {
    super()
    this.billionths = billionths
  }

  override equals(other: CelObject): boolean {
    return other instanceof CelQuantity && other.billionths === this.billionths
  }

  /** The string form for `string()`. */
  toText(): string {
    const isWhole = this.billionths % scale === 0n
    return isWhole ? String(this.billionths / scale) : String(Number(this.billionths) / Number(scale))
  }
}

/** Parses a quantity; `undefined` when the text is not a quantity. */
function parseQuantity(text: string): CelQuantity | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', e, exponent = '0', suffix = ''] = match
  if (whole === '' && fraction === '') return undefined
  const power = e === undefined ? (decimalExponent[suffix] ?? 0) : Number(exponent)
  if (Math.abs(power) > 60) return undefined
  const binary = suffix.endsWith('i') ? 1024n ** BigInt(binaryExponent.indexOf(suffix.charAt(0)) + 1) : 1n
  const numerator = BigInt(whole + fraction) * scale * binary * 10n ** BigInt(Math.max(0, power))
  const denominator = 10n ** BigInt(fraction.length + Math.max(0, -power))
  // Fractions smaller than a billionth are rounded away from zero.
  const rounded = (numerator + denominator - 1n) / denominator
  return new CelQuantity(sign === '-' ? -rounded : rounded)
}

/** `quantity` and `isQuantity`. */
export const quantityFunctions: FunctionTable = {
  isQuantity: celFunction('bool', ([text]) => {
    return typeof text === 'string' ? parseQuantity(text) !== undefined : undefined
  }),
  quantity: celFunction('quantity', ([text]) => {
    if (typeof text !== 'string') return undefined
    const parsed = parseQuantity(text)
    if (parsed !== undefined) return parsed
    throw new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
  }),
}

/** Methods of quantities. */
export const quantityMethods: FunctionTable = {
  add: method('quantity', (a, b) => new CelQuantity(a.billionths + b)),
  asApproximateFloat: unary('double', (a) => Number(a.billionths) / Number(scale)),
  asInteger: unary('int', (a) => {
    if (a.billionths % scale !== 0n) throw new CelError('cannot convert value to integer')
    return a.billionths / scale
  }),
  isInteger: unary('bool', (a) => a.billionths % scale === 0n),
  sub: method('quantity', (a, b) => new CelQuantity(a.billionths - b)),
}

function unary(result: 'int' | 'bool' | 'double', call: (a: CelQuantity) => CelValue): CelFunction {
  return celFunction(result, ([a]) => (a instanceof CelQuantity ? call(a) : undefined))
}

/** A method whose argument is another quantity or an integer. */
function method(result: 'quantity', call: (a: CelQuantity, b: bigint) => CelValue): CelFunction {
  return celFunction(result, ([a, b]) => {
    if (!(a instanceof CelQuantity)) return undefined
    if (b instanceof CelQuantity) return call(a, b.billionths)
    return typeof b === 'bigint' ? call(a, b * scale) : undefined
  })
}
