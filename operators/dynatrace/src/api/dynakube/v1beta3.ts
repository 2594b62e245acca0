/** DynaKube v1beta3: deprecated and still served, as older manifests use it. */
import { Type } from 'typebox'
import { activeGateWithoutStorage } from './active-gate.ts'
import { kspmWithoutPaths, logMonitoring, prometheusExtensions } from './features.ts'
import { oneAgentWithoutStorage } from './one-agent.ts'
import { COLUMNS, DESCRIPTION, SPEC, specFields } from './spec-fields.ts'
import { statusWithRuleSwitch } from './status.ts'
import { templatesWithoutDatabases } from './templates.ts'

/** The version's definition. */
export const v1beta3 = {
  description: DESCRIPTION,
  storage: false,
  specRequired: false,
  deprecated:
    'dynatrace.com/v1beta3 DynaKube will be removed in a future release; see the documentation for how to move to v1beta6',
  spec: Type.Object(
    {
      ...specFields,
      oneAgent: oneAgentWithoutStorage,
      activeGate: activeGateWithoutStorage,
      logMonitoring,
      kspm: kspmWithoutPaths,
      extensions: prometheusExtensions,
      templates: templatesWithoutDatabases,
    },
    SPEC,
  ),
  status: statusWithRuleSwitch,
  columns: COLUMNS,
} as const
