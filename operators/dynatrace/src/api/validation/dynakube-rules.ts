/** All rules for DynaKubes, in the order of their messages. */
import type { DynaKube } from '../latest.ts'
import type { Rule } from './rule.ts'
import { activeGateRules } from './rules/active-gate.ts'
import { namespaceConflictRule, nodeSelectorRule } from './rules/conflicts.ts'
import { databaseRules } from './rules/databases.ts'
import {
  collectorRules,
  extensionControllerRules,
  kspmRules,
  logMonitoringRule,
  telemetryIngestRules,
} from './rules/features.ts'
import { moduleRules } from './rules/modules.ts'
import {
  ignoredNamespacesRule,
  imageRule,
  nameRule,
  namespaceSelectorRule,
  selectorSizeRule,
} from './rules/names-and-images.ts'
import { hostIdRule, injectionRules, modesRule, repeatedArgumentsRule, versionRule } from './rules/one-agent.ts'
import { apiUrlRules, istioRule, proxyRule } from './rules/tenant.ts'

/** Rules whose findings deny a DynaKube. */
export const DYNAKUBE_RULES: readonly Rule<DynaKube>[] = [
  ...moduleRules,
  versionRule,
  repeatedArgumentsRule,
  hostIdRule,
  ...apiUrlRules,
  ...activeGateRules,
  proxyRule,
  modesRule,
  nodeSelectorRule,
  namespaceConflictRule,
  istioRule,
  ...injectionRules,
  nameRule,
  namespaceSelectorRule,
  selectorSizeRule,
  ignoredNamespacesRule,
  imageRule,
  ...extensionControllerRules,
  ...kspmRules,
  logMonitoringRule,
  ...telemetryIngestRules,
  ...collectorRules,
  ...databaseRules,
]
