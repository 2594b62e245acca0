/** DynaKube v1beta6: the stored version, and the one that all other code works on. */
import { Type } from 'typebox'
import { activeGate } from './active-gate.ts'
import { extensions, kspm, logMonitoring, otlpExporterConfiguration, telemetryIngest } from './features.ts'
import { oneAgent } from './one-agent.ts'
import { COLUMNS, DESCRIPTION, SPEC, specFields } from './spec-fields.ts'
import { status } from './status.ts'
import { templates } from './templates.ts'

/** The version's definition. */
export const v1beta6 = {
  description: DESCRIPTION,
  storage: true,
  specRequired: false,
  spec: Type.Object(
    {
      ...specFields,
      oneAgent,
      activeGate,
      logMonitoring,
      kspm,
      extensions,
      telemetryIngest,
      otlpExporterConfiguration,
      templates,
    },
    SPEC,
  ),
  status,
  columns: COLUMNS,
} as const
