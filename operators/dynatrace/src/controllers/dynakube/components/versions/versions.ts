/** Which versions of agents, code modules and gateways to run, kept in the status. */
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { needsAppInjection, needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import type { VersionedComponent } from '../../../../api/dynakube/version-source.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { type DynaKubeComponent, RENDERS_NOTHING } from '../../dynakube-component.ts'
import { oneAgentConnection } from '../connection/one-agent-connection.ts'
import { tenant } from '../tenant/tenant.ts'
import { clearVersion, resolveVersion, versionCondition } from './resolve-version.ts'

function version(
  name: string,
  of: VersionedComponent,
  isEnabled: (dynakube: DynaKube) => boolean,
  needs: DynaKubeComponent['needs'] = [],
): DynaKubeComponent {
  return {
    name,
    needs: [tenant, ...needs],
    isEnabled,
    conditions: [versionCondition(of)],
    ...RENDERS_NOTHING,
    async resolve(context) {
      await resolveVersion(context, of)
      return undefined
    },
    report({ state }, reporter) {
      if (state === 'disabled') clearVersion(reporter, of)
    },
  }
}

/** The version of gateways. */
export const activeGateVersion = version('ActiveGate version', 'activeGate', hasActiveGate)

/** The version of code modules. */
export const codeModulesVersion = version('code modules version', 'codeModules', needsAppInjection, [
  oneAgentConnection,
])

/** The version of agents. */
export const oneAgentVersion = version('OneAgent version', 'oneAgent', needsOneAgentDaemonSet, [oneAgentConnection])
