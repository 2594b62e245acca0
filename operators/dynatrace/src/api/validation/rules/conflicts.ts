/** Rules on DynaKubes that conflict with each other. */
import { setImmediate } from 'node:timers/promises'
import { hasStandaloneLogMonitoring } from '../../dynakube/feature-facts.ts'
import { claimOf, claimsNamespaces } from '../../dynakube/namespace-claims.ts'
import { agentNodeSelector, needsAppInjection, needsOneAgentDaemonSet } from '../../dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../latest.ts'
import { type Lookups, otherDynaKubes, type Rule, unlessUnreachable } from '../rule.ts'

/** Agents of different DynaKubes run on different nodes. */
export const nodeSelectorRule: Rule<DynaKube> = {
  id: 'DK-NODESEL',
  check: (dynakube, lookups) =>
    unlessUnreachable(async () => {
      if (!needsOneAgentDaemonSet(dynakube) && !hasStandaloneLogMonitoring(dynakube)) return undefined
      const rivals = (await otherDynaKubes(dynakube, lookups)).filter((other) => sharesNodes(dynakube, other))
      if (rivals.length === 0) return undefined
      const names = rivals.map(({ metadata }) => metadata.name).join(', ')
      const field = needsOneAgentDaemonSet(dynakube) ? 'spec.oneAgent' : 'spec.templates.logMonitoring'
      return `nodeSelector of ${field}: an agent would run on the same nodes as one of ${names}; give them nodeSelectors that exclude each other`
    }),
}

function sharesNodes(one: DynaKube, other: DynaKube): boolean {
  const areAgents = needsOneAgentDaemonSet(one) && needsOneAgentDaemonSet(other)
  const isRival = needsOneAgentDaemonSet(other) || hasStandaloneLogMonitoring(other)
  // Log agents of different tenants may share a node.
  const collide = areAgents || (isRival && one.spec.apiUrl === other.spec.apiUrl)
  return collide && overlap(agentNodeSelector(one) ?? {}, agentNodeSelector(other) ?? {})
}

type Labels = Readonly<Record<string, string>>

function overlap(one: Labels, other: Labels): boolean {
  const contains = (large: Labels, small: Labels) =>
    Object.entries(small).every(([key, value]) => Object.hasOwn(large, key) && large[key] === value)
  return contains(one, other) || contains(other, one)
}

/** Each namespace is injected by one DynaKube. */
export const namespaceConflictRule: Rule<DynaKube> = {
  id: 'DK-NSCONFLICT',
  check: (dynakube, lookups) =>
    unlessUnreachable(async () => {
      if (!claimsNamespaces(dynakube)) return undefined
      const conflict = await findConflict(dynakube, lookups)
      if (conflict === undefined) return undefined
      const names = conflict.owners.map(({ metadata }) => metadata.name).join(' and ')
      const field = needsAppInjection(dynakube) ? 'spec.oneAgent' : 'spec.metadataEnrichment'
      return `namespaceSelector of ${field}: the namespace ${conflict.namespace} would be injected or enriched by ${names}; refine their namespaceSelectors so that each namespace matches one`
    }),
}

/** Patterns may take a millisecond per namespace, so other reviews run in between. */
const NAMESPACES_AT_ONCE = 25

async function findConflict(dynakube: DynaKube, lookups: Lookups) {
  const [namespaces, others] = await Promise.all([lookups.listNamespaces(), otherDynaKubes(dynakube, lookups)])
  const claims = [...others, dynakube].map((owner) => claimOf(owner, lookups.ignoredNamespaces))
  for (const [index, namespace] of namespaces.entries()) {
    if (index % NAMESPACES_AT_ONCE === NAMESPACES_AT_ONCE - 1) await setImmediate()
    const owners: DynaKube[] = []
    for (const { owner, isOwner, selects } of claims) {
      const isMatch = selects(namespace)
      // A selector that cannot be evaluated ends the search; another rule reports it.
      if (isMatch === undefined) return undefined
      if (isMatch && isOwner) owners.push(owner)
      if (owners.length > 1) return { namespace: namespace.name, owners }
    }
  }
  return undefined
}
