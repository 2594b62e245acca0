/** DynaKube v1beta5: agents have `autoUpdate`, extensions are Prometheus only, the collector has a default image. */
import { Type } from 'typebox'
import { activeGateWithoutUpdates } from './active-gate.ts'
import { kspm, logMonitoring, prometheusExtensions, telemetryIngest } from './features.ts'
import { oneAgentWithAutoUpdate } from './one-agent.ts'
import { COLUMNS, DESCRIPTION, SPEC, specFields } from './spec-fields.ts'
import { statusWithPlainConditions } from './status.ts'
import { templatesWithoutDatabases } from './templates.ts'

/** The version's definition. */
export const v1beta5 = {
  description: DESCRIPTION,
  storage: false,
  specRequired: false,
  spec: Type.Object(
    {
      ...specFields,
      oneAgent: oneAgentWithAutoUpdate,
      activeGate: activeGateWithoutUpdates,
      logMonitoring,
      kspm,
      extensions: prometheusExtensions,
      telemetryIngest,
      templates: templatesWithoutDatabases,
    },
    SPEC,
  ),
  status: statusWithPlainConditions,
  columns: COLUMNS,
} as const
