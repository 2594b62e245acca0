/** Which versions of agents, code modules and gateways to run, kept in the status. */
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { needsAppInjection, needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import type { VersionedComponent } from '../../../../api/dynakube/version-source.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { Component } from '../../component.ts'
import { oneAgentTenantSecret } from '../connection/tenant-secrets.ts'
import { clearVersion, resolveVersion } from './resolve-version.ts'

function version(
  name: string,
  of: VersionedComponent,
  isEnabled: (dynakube: DynaKube) => boolean,
  needs: readonly Component[] = [],
): Component {
  return {
    name,
    needs,
    isEnabled,
    mayOwn: () => [],
    async resolve(pass) {
      await resolveVersion(pass, of)
      return undefined
    },
    render: () => [],
    disable: (draft) => clearVersion(draft, of),
  }
}

/** Of gateways. */
export const activeGateVersion = version('ActiveGate version', 'activeGate', hasActiveGate)

/** Of code modules. */
export const codeModulesVersion = version('code modules version', 'codeModules', needsAppInjection, [
  oneAgentTenantSecret,
])

/** Of agents. */
export const oneAgentVersion = version('OneAgent version', 'oneAgent', needsOneAgentDaemonSet, [oneAgentTenantSecret])
