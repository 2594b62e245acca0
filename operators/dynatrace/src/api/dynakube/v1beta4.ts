/** DynaKube v1beta4: as v1beta5, with another name for the claim of the ActiveGate and without paths for KSPM. */
import { Type } from 'typebox'
import { activeGateWithClaim } from './active-gate.ts'
import { kspmWithoutPaths, logMonitoring, prometheusExtensions, telemetryIngest } from './features.ts'
import { oneAgentWithAutoUpdate } from './one-agent.ts'
import { COLUMNS, DESCRIPTION, SPEC, specFields } from './spec-fields.ts'
import { statusWithRuleSwitch } from './status.ts'
import { templatesWithoutDatabases } from './templates.ts'

/** The version's definition. */
export const v1beta4 = {
  description: DESCRIPTION,
  storage: false,
  specRequired: false,
  spec: Type.Object(
    {
      ...specFields,
      oneAgent: oneAgentWithAutoUpdate,
      activeGate: activeGateWithClaim,
      logMonitoring,
      kspm: kspmWithoutPaths,
      extensions: prometheusExtensions,
      telemetryIngest,
      templates: templatesWithoutDatabases,
    },
    SPEC,
  ),
  status: statusWithRuleSwitch,
  columns: COLUMNS,
} as const
