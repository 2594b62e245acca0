/** What users of a DynaKube are warned about, in the order of the warnings. */
import { parseJsonBoolean } from '../annotation-values.ts'
import { AUTO_UPDATE_ANNOTATION } from '../conversion/preserved-fields.ts'
import { hasActiveGate } from '../dynakube/active-gate-facts.ts'
import {
  hasExtensions,
  hasKspm,
  hasLogMonitoring,
  hasStandaloneLogMonitoring,
  kspmHostPaths,
} from '../dynakube/feature-facts.ts'
import { argumentValues, needsOneAgentDaemonSet, oneAgentArguments, oneAgentEnv } from '../dynakube/one-agent-facts.ts'
import { deprecatedFlagsInUse, FEATURE_PREFIX, flagText } from '../feature-flags.ts'
import type { DynaKube } from '../latest.ts'
import { otherDynaKubes, type Rule, unlessUnreachable } from './rule.ts'
import { isClusterAnnounced } from './rules/features.ts'

const INSTALLER_VARIABLES = ['ONEAGENT_INSTALLER_SCRIPT_URL', 'ONEAGENT_INSTALLER_TOKEN']
const MAX_UNAVAILABLE_FLAG = 'oneagent-max-unavailable'
const SET_UP =
  'set up Kubernetes monitoring of this cluster: add the capability kubernetes-monitoring to spec.activeGate.capabilities'

const when = (isTrue: boolean, warning: string): string | undefined => (isTrue ? warning : undefined)

/** Rules whose findings are warnings. */
export const DYNAKUBE_WARNINGS: readonly Rule<DynaKube>[] = [
  {
    id: 'W-AG-MEM',
    check: (dynakube) =>
      when(
        hasActiveGate(dynakube) && dynakube.spec.activeGate?.resources?.limits === undefined,
        'spec.activeGate.resources has no memory limits; set limits.memory, so that the ActiveGate cannot exhaust a node',
      ),
  },
  {
    id: 'W-OA-INSTALLER-ENV',
    check: (dynakube) =>
      when(
        oneAgentEnv(dynakube).some(({ name }) => INSTALLER_VARIABLES.includes(name)),
        `env of spec.oneAgent sets ${INSTALLER_VARIABLES.join(' or ')}, which belong to a type of image that is not supported; remove them`,
      ),
  },
  {
    id: 'W-OA-HOSTGROUP',
    check: (dynakube) =>
      when(
        argumentValues(oneAgentArguments(dynakube)).get('--set-host-group')?.some(Boolean) ?? false,
        'args of spec.oneAgent set --set-host-group; use spec.oneAgent.hostGroup, which wins over the argument',
      ),
  },
  {
    id: 'W-OA-AUTOUPDATE',
    check: (dynakube) =>
      when(
        needsOneAgentDaemonSet(dynakube) &&
          parseJsonBoolean(dynakube.metadata.annotations?.[AUTO_UPDATE_ANNOTATION]) !== undefined,
        'autoUpdate of spec.oneAgent is deprecated and without effect; pin version or image to stop updates',
      ),
  },
  {
    id: 'W-FLAGS',
    check: (dynakube) => {
      const flags = deprecatedFlagsInUse(dynakube)
      const sentences = flags.map(
        ({ name, instead }) => `the annotation ${FEATURE_PREFIX}${name} is deprecated; use ${instead}. `,
      )
      return when(flags.length > 0, sentences.join('').trimEnd())
    },
  },
  {
    id: 'W-OA-MAXUNAVAILABLE',
    check: (dynakube) => {
      const { spec } = dynakube
      const modes = [
        spec.oneAgent?.classicFullStack,
        spec.oneAgent?.cloudNativeFullStack,
        spec.oneAgent?.hostMonitoring,
      ]
      const isPaced = [...modes, spec.templates?.logMonitoring].some((each) => each?.rollingUpdate)
      return when(
        isPaced && flagText(dynakube, MAX_UNAVAILABLE_FLAG) !== '',
        `the annotation ${FEATURE_PREFIX}${MAX_UNAVAILABLE_FLAG} has no effect where rollingUpdate is set; remove the annotation`,
      )
    },
  },
  {
    id: 'W-LM-TEMPLATE',
    check: (dynakube) =>
      when(
        !hasStandaloneLogMonitoring(dynakube) &&
          needsOneAgentDaemonSet(dynakube) &&
          dynakube.spec.templates?.logMonitoring !== undefined,
        'spec.templates.logMonitoring is ignored, as the OneAgent on the nodes sends the logs; remove it',
      ),
  },
  {
    id: 'W-EXT-APIURL',
    check: (dynakube, lookups) =>
      unlessUnreachable(async () => {
        if (!hasExtensions(dynakube)) return undefined
        const others = (await otherDynaKubes(dynakube, lookups)).filter(hasExtensions)
        const twin = others.find(({ spec }) => spec.apiUrl === dynakube.spec.apiUrl)
        return (
          twin &&
          `DynaKube ${twin.metadata.name} runs extensions for the same spec.apiUrl; metrics would be distorted and billed twice: switch extensions off in one of them`
        )
      }),
  },
  {
    id: 'W-LM-KUBEMON',
    check: (dynakube) =>
      when(hasLogMonitoring(dynakube) && !isClusterAnnounced(dynakube), `for spec.logMonitoring, ${SET_UP}`),
  },
  {
    id: 'W-KSPM-NOPATHS',
    check: (dynakube) =>
      when(
        hasKspm(dynakube) && kspmHostPaths(dynakube).length === 0,
        'spec.kspm.mappedHostPaths is empty, so that no host paths are checked; list them, or / for all',
      ),
  },
  {
    id: 'W-EXT-KUBEMON',
    check: (dynakube) =>
      when(hasExtensions(dynakube) && !isClusterAnnounced(dynakube), `for spec.extensions, ${SET_UP}`),
  },
  {
    id: 'W-DB-HOSTPATH',
    check: ({ spec }) =>
      when(
        (spec.extensions?.databases ?? []).some(({ volumes = [] }) => volumes.some(({ hostPath }) => hostPath)),
        'spec.extensions.databases mounts a hostPath, which OpenShift forbids by its security context constraints (SCC); bind a role that allows it to the service account',
      ),
  },
]
