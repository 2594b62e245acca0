/** Amounts of resources by name, such as `pods: 3` and `requests.cpu: 500m`. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  wholeQuantity,
} from '../api/quantity.ts'
import type { JsonObject } from '../json.ts'

/** Quantities by resource name. Immutable. */
export type Amounts = ReadonlyMap<string, Quantity>

export const NONE = wholeQuantity(0n)
export const ONE = wholeQuantity(1n)

/** The amounts of a resource list, which the server has validated. */
export function readAmounts(list: JsonObject): Amounts {
  return new Map(Object.entries(list).map(([name, value]) => [name, parseQuantity(String(value))]))
}

/** The resource list with these amounts. */
export function writeAmounts(amounts: Amounts): JsonObject {
  const sorted = [...amounts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, amount]) => [name, formatQuantity(amount)]))
}

/** `a + b` by name. */
export function add(a: Amounts, b: Amounts): Amounts {
  const sum = new Map(a)
  for (const [name, amount] of b) sum.set(name, addQuantities(sum.get(name) ?? NONE, amount))
  return sum
}

/** `a - b` by name of `a`, at least zero. */
export function subtract(a: Amounts, b: Amounts): Amounts {
  const entries = [...a].map(([name, amount]) => {
    const other = b.get(name) ?? NONE
    const difference = addQuantities(amount, { ...other, unscaled: -other.unscaled })
    return [name, difference.unscaled < 0n ? NONE : difference] as const
  })
  return new Map(entries)
}

/** The larger amount by name. */
export function maximum(a: Amounts, b: Amounts): Amounts {
  const larger = new Map(a)
  for (const [name, amount] of b) {
    const other = larger.get(name)
    if (other === undefined || compareQuantities(amount, other) > 0) larger.set(name, amount)
  }
  return larger
}

/** Only the amounts of these names. */
export function pick(amounts: Amounts, names: Iterable<string>): Amounts {
  const picked = new Map<string, Quantity>()
  for (const name of names) {
    const amount = amounts.get(name)
    if (amount !== undefined) picked.set(name, amount)
  }
  return picked
}

/** `cpu=500m,pods=3`, for messages. */
export function describeAmounts(amounts: Amounts): string {
  return Object.entries(writeAmounts(amounts))
    .map(([name, amount]) => `${name}=${amount}`)
    .join(',')
}
