/** The CRD `dynakubes.dynatrace.com` with all its versions. */
import { defineCrd } from '@reeve/crd'
import { Type } from 'typebox'
import { activeGate, activeGateWithClaim, activeGateWithoutStorage, activeGateWithoutUpdates } from './active-gate.ts'
import {
  extensions,
  kspm,
  kspmWithoutPaths,
  logMonitoring,
  otlpExporterConfiguration,
  prometheusExtensions,
  telemetryIngest,
} from './features.ts'
import { oneAgent, oneAgentWithAutoUpdate, oneAgentWithoutStorage } from './one-agent.ts'
import { COLUMNS, DESCRIPTION, SPEC, specFields } from './spec-fields.ts'
import { status, statusWithPlainConditions, statusWithRuleSwitch } from './status.ts'
import { templates, templatesWithoutDatabases } from './templates.ts'

/** v1beta6: the stored version, and the one that all other code works on. */
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

/** v1beta5: agents have `autoUpdate`, extensions are Prometheus only, the collector has a default image. */
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

/** v1beta4: as v1beta5, with another name for the claim of the ActiveGate and without paths for KSPM. */
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

/** v1beta3: deprecated and still served, as older manifests use it. */
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

/** The CRD, the newest version first. */
export const DynaKubeCrd = defineCrd({
  group: 'dynatrace.com',
  kind: 'DynaKube',
  plural: 'dynakubes',
  shortNames: ['dk', 'dks'],
  categories: ['dynatrace'],
  scope: 'Namespaced',
  versions: { v1beta6, v1beta5, v1beta4, v1beta3 },
})
