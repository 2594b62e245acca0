/** Rules on the ActiveGate. */
import { CAPABILITY_ARGUMENTS, hasActiveGate } from '../../dynakube/active-gate-facts.ts'
import type { DynaKube } from '../../latest.ts'
import type { Rule } from '../rule.ts'

const FIELD = 'spec.activeGate.capabilities'
const capabilities = (dynakube: DynaKube) =>
  hasActiveGate(dynakube) ? (dynakube.spec.activeGate?.capabilities ?? []) : []

/** The values that occur more than once, each once. In linear time: a review may list hundreds of thousands. */
export function repeatedValues(values: readonly string[]): readonly string[] {
  const [seen, repeated] = [new Set<string>(), new Set<string>()]
  for (const value of values) (seen.has(value) ? repeated : seen).add(value)
  return [...repeated]
}

/** Capabilities are known and distinct, and there is one kind of storage. */
export const activeGateRules: readonly Rule<DynaKube>[] = [
  {
    id: 'DK-AG-CAP-INVALID',
    check: (dynakube) => {
      const known = Object.keys(CAPABILITY_ARGUMENTS)
      const odd = capabilities(dynakube).find((capability) => !known.includes(capability))
      return odd === undefined
        ? undefined
        : `${FIELD} contains "${odd}", which is unknown; choose from ${known.join(', ')}`
    },
  },
  {
    id: 'DK-AG-CAP-DUP',
    check: (dynakube) => {
      const [repeated] = repeatedValues(capabilities(dynakube))
      return repeated === undefined ? undefined : `${FIELD} contains "${repeated}" more than once; keep one of them`
    },
  },
  {
    id: 'DK-AG-PV',
    check: ({ spec }) =>
      spec.activeGate?.useEphemeralVolume && spec.activeGate.volumeClaimTemplate
        ? 'spec.activeGate.useEphemeralVolume and spec.activeGate.volumeClaimTemplate exclude each other; remove one of them'
        : undefined,
  },
]
