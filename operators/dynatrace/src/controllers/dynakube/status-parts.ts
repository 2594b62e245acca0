/** Changes parts of the status of a DynaKube. */
import type { DynaKubeStatus } from '../../api/latest.ts'
import type { DynaKubeReporter } from './dynakube-component.ts'

/** Changes members of `status.oneAgent`. */
export function updateOneAgent(
  reporter: DynaKubeReporter,
  change: Partial<NonNullable<DynaKubeStatus['oneAgent']>>,
): void {
  const { oneAgent } = reporter.status ?? {}
  if (isChange(oneAgent, change)) reporter.update({ oneAgent: unlessEmpty({ ...oneAgent, ...change }) })
}

/** Changes members of `status.activeGate`. */
export function updateActiveGate(
  reporter: DynaKubeReporter,
  change: Partial<NonNullable<DynaKubeStatus['activeGate']>>,
): void {
  const { activeGate } = reporter.status ?? {}
  if (isChange(activeGate, change)) reporter.update({ activeGate: unlessEmpty({ ...activeGate, ...change }) })
}

/** Removes a part without members: the status of a disabled feature is the same as if it had never been enabled. */
function unlessEmpty<T extends object>(part: T): T | undefined {
  return Object.values(part).every((value) => value === undefined) ? undefined : part
}

/** Removing a member that does not exist must not create an empty part. */
function isChange(part: object | undefined, change: object): boolean {
  const before = new Map<string, unknown>(Object.entries(part ?? {}))
  return Object.entries(change).some(([name, value]) => before.get(name) !== value)
}
