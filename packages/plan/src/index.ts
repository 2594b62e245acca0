/** @module Dry runs of operators: what one would do, rehearsed on a copy of the cluster. */
export type { Place, PlannedChange } from './compare-states.ts'
export { type FieldChange, fieldDiff } from './field-diff.ts'
export { type FormatOptions, formatText, type OutsideChange } from './format-text.ts'
export { GENERATED, KNOWN_AFTER_APPLY, SENSITIVE } from './placeholders.ts'
export type { Plan, PlanFinding, PlannedResource } from './plan.ts'
export {
  type PlanAdditions,
  type PlannedOperator,
  type PlanOperatorInput,
  PlanRefusedError,
  planOperator,
} from './plan-operator.ts'
export { isOf } from './put-manifests.ts'
export { type ReadState, type ReadStateOptions, readState } from './read-state.ts'
export { identityOf, type ObjectsById, ScratchCluster, type ScratchOptions, titleOf } from './scratch-cluster.ts'
export { type Conceal, type ConcealOptions, concealer, essence } from './shown-object.ts'
export { asDocument, hasChanges, hasErrors, type PlanSummary, summaryOf } from './summary.ts'
