/** Functions of timestamps and durations, and ranges of numbers. */
import { CelError } from '../cel-error.ts'
import { CelDuration, CelTimestamp } from '../values.ts'
import { type CelFunction, celFunction, type FunctionTable } from './cel-function.ts'

/** Functions of the namespace `lists`. */
export const listFunctions: FunctionTable = {
  'lists.range': celFunction('dyn', ([count], { budget }) => {
    if (typeof count !== 'bigint') return undefined
    if (count > 100_000n) throw new CelError('lists.range: too many items')
    budget.spend(Math.max(0, Number(count)))
    return Array.from({ length: Number(count) }, (_, index) => BigInt(index))
  }),
}

/** Methods of timestamps and durations. A time zone may be given by name. */
export const timeMethods: FunctionTable = {
  getDate: datePart((date) => date.getUTCDate()),
  getDayOfMonth: datePart((date) => date.getUTCDate() - 1),
  getDayOfWeek: datePart((date) => date.getUTCDay()),
  getDayOfYear: datePart((date) => (date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000),
  getFullYear: datePart((date) => date.getUTCFullYear()),
  getHours: datePart((date) => date.getUTCHours(), 3_600_000_000_000n),
  getMilliseconds: datePart((date) => date.getUTCMilliseconds(), 1_000_000n),
  getMinutes: datePart((date) => date.getUTCMinutes(), 60_000_000_000n),
  getMonth: datePart((date) => date.getUTCMonth()),
  getSeconds: datePart((date) => date.getUTCSeconds(), 1_000_000_000n),
}

/** What it takes to find the time of a zone, as measured. */
const ZONE_STEPS = 2_000

function datePart(part: (date: Date) => number, unitNanoseconds?: bigint): CelFunction {
  return celFunction('int', ([value, zone], { budget }) => {
    if (value instanceof CelDuration && unitNanoseconds !== undefined) return value.nanoseconds / unitNanoseconds
    if (!(value instanceof CelTimestamp)) return undefined
    if (zone !== undefined && typeof zone !== 'string') return undefined
    if (zone !== undefined) budget.spend(ZONE_STEPS)
    return BigInt(Math.floor(part(inZone(value.epochMs, zone))))
  })
}

/** A date whose UTC fields show the local time of the zone. */
function inZone(epochMs: number, zone: string | undefined): Date {
  if (zone === undefined || zone === 'UTC') return new Date(epochMs)
  try {
    const text = new Date(epochMs).toLocaleString('sv-SE', { timeZone: zone })
    return new Date(Date.parse(`${text.replace(' ', 'T')}Z`) + (((epochMs % 1000) + 1000) % 1000))
  } catch (error) {
    throw new CelError(error instanceof RangeError ? `unknown time zone ${zone}` : String(error))
  }
}
