/** Whether two values of snapshots say the same. */
import { areAlikeTimes } from './time-scale.ts'

/** Deep equality, except for times to come, which may differ by as much as one run is slower than the other. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one === 'string' && typeof other === 'string') return areAlikeTimes(one, other)
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [first, second] = [one as Record<string, unknown>, other as Record<string, unknown>]
  const names = Object.keys(first)
  if (names.length !== Object.keys(second).length) return false
  return names.every((name) => Object.hasOwn(second, name) && isSameValue(first[name], second[name]))
}
