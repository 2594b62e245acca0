/** Kubernetes quantities in expressions: `quantity('1.5Gi')`. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isWholeNumber,
  parseQuantity,
  type Quantity,
  QuantityError,
  toNumber,
  wholeQuantity,
} from '../../api/quantity.ts'
import { CelError } from '../cel-error.ts'
import { CelObject, type CelValue } from '../values.ts'
import { type CelFunction, celFunction, type FunctionTable } from './cel-function.ts'

const MAX_INT = wholeQuantity(2n ** 63n - 1n)
const MIN_INT = wholeQuantity(-(2n ** 63n))

/** An amount, such as of memory. */
export class CelQuantity extends CelObject {
  override readonly typeName = 'kubernetes.Quantity'
  readonly amount: Quantity

  constructor(amount: Quantity) {
    super()
    this.amount = amount
  }

  override equals(other: CelObject): boolean {
    return other instanceof CelQuantity && compareQuantities(other.amount, this.amount) === 0
  }

  /** The string form for `string()`. */
  toText(): string {
    return formatQuantity(this.amount)
  }
}

/** `quantity` and `isQuantity`. */
export const quantityFunctions: FunctionTable = {
  isQuantity: celFunction('bool', ([text]) => {
    return typeof text === 'string' ? !(parsed(text) instanceof QuantityError) : undefined
  }),
  quantity: celFunction('quantity', ([text]) => {
    if (typeof text !== 'string') return undefined
    const amount = parsed(text)
    if (amount instanceof QuantityError) throw new CelError(amount.message)
    return new CelQuantity(amount)
  }),
}

function parsed(text: string): Quantity | QuantityError {
  try {
    return parseQuantity(text)
  } catch (error) {
    if (error instanceof QuantityError) return error
    throw error
  }
}

/** Methods of quantities. */
export const quantityMethods: FunctionTable = {
  add: method('quantity', (a, b) => new CelQuantity(addQuantities(a, b))),
  asApproximateFloat: unary('double', toNumber),
  asInteger: unary('int', (a) => {
    if (!isInt(a)) throw new CelError('cannot convert value to integer')
    return toBigInt(a)
  }),
  isInteger: unary('bool', isInt),
  sub: method('quantity', (a, b) => new CelQuantity(addQuantities(a, { ...b, unscaled: -b.unscaled }))),
}

/** Integers of expressions have 64 bits. */
function isInt(amount: Quantity): boolean {
  if (!isWholeNumber(amount)) return false
  return compareQuantities(amount, MIN_INT) >= 0 && compareQuantities(amount, MAX_INT) <= 0
}

function toBigInt({ unscaled, exponent }: Quantity): bigint {
  return exponent < 0 ? unscaled / 10n ** BigInt(-exponent) : unscaled * 10n ** BigInt(exponent)
}

function unary(result: 'int' | 'bool' | 'double', call: (a: Quantity) => CelValue): CelFunction {
  return celFunction(result, ([a]) => (a instanceof CelQuantity ? call(a.amount) : undefined))
}

/** A method whose argument is another quantity or an integer. */
function method(result: 'quantity', call: (a: Quantity, b: Quantity) => CelValue): CelFunction {
  return celFunction(result, ([a, b]) => {
    if (!(a instanceof CelQuantity)) return undefined
    if (b instanceof CelQuantity) return call(a.amount, b.amount)
    return typeof b === 'bigint' ? call(a.amount, wholeQuantity(b)) : undefined
  })
}
