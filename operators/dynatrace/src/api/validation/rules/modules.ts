/** Rules on which modules are installed. */
import { hasActiveGate, hasKubernetesMonitoring } from '../../dynakube/active-gate-facts.ts'
import { hasExtensions, hasKspm, hasLogMonitoring } from '../../dynakube/feature-facts.ts'
import { needsOneAgentDaemonSet } from '../../dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../latest.ts'
import type { Modules } from '../modules.ts'
import type { Rule } from '../rule.ts'

/** The message for a module that is used and not installed. */
export const notInstalled = (field: string, module: string): string =>
  `${field} needs ${module}, which the release does not include; upgrade the release with ${module} enabled`

const needs =
  (
    module: keyof Modules,
    label: string,
    field: string,
    isUsed: (dynakube: DynaKube) => boolean,
  ): Rule<DynaKube>['check'] =>
  (dynakube, { modules }) =>
    isUsed(dynakube) && !modules[module] ? notInstalled(field, label) : undefined

/** The modules of all features in use are installed. */
export const moduleRules: readonly Rule<DynaKube>[] = [
  {
    id: 'DK-MOD-AG',
    check: (dynakube, { modules }) => {
      if (hasActiveGate(dynakube) && !modules.activeGate) return notInstalled('spec.activeGate', 'ActiveGate')
      return hasKubernetesMonitoring(dynakube) && !modules.kubernetesMonitoring
        ? notInstalled('spec.activeGate.capabilities: kubernetes-monitoring', 'KubernetesMonitoring')
        : undefined
    },
  },
  { id: 'DK-MOD-EXT', check: needs('extensions', 'Extensions', 'spec.extensions', hasExtensions) },
  { id: 'DK-MOD-LM', check: needs('logMonitoring', 'LogMonitoring', 'spec.logMonitoring', hasLogMonitoring) },
  {
    id: 'DK-MOD-KSPM',
    check: (dynakube, { modules }) => {
      if (!hasKspm(dynakube)) return undefined
      const findings = [
        ...(modules.kspm ? [] : [notInstalled('spec.kspm', 'KSPM')]),
        ...(modules.kubernetesMonitoring
          ? []
          : [notInstalled('spec.kspm depends on KubernetesMonitoring and', 'KubernetesMonitoring')]),
      ]
      return findings.length === 0 ? undefined : findings.join(',')
    },
  },
  { id: 'DK-MOD-OA', check: needs('oneAgent', 'OneAgent', 'spec.oneAgent', needsOneAgentDaemonSet) },
]
