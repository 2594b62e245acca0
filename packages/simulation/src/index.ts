/** @module Deterministic worlds for operators, and the exploration of every fault in them. */

export { type Difference, differences, formatDifference } from './compare/difference.ts'
export { type ExploreOptions, Explorer, type ExplorerOptions, explore } from './explore.ts'
export type { Problem, ProblemKind } from './judge/problem.ts'
export type {
  Edit,
  Exploration,
  OperatorInstance,
  OperatorUnderTest,
  Place,
  PlainObject,
  Scenario,
  SharedObject,
  Step,
  User,
} from './operator-under-test.ts'
export type { PointOutcome, Shape } from './patterns/pattern.ts'
export { PATTERN_NAMES, type PatternName, type PatternReference } from './patterns/pattern-names.ts'
export type {
  Divergence,
  ExplorationReport,
  PatternReport,
  PointInfo,
  Progress,
} from './report/exploration-report.ts'
export { divergenceText, type ReplayOptions, reportTable } from './report/report-text.ts'
export type { ScenarioRun, ScenarioRunOptions } from './run/run-options.ts'
export { runScenario } from './run/scenario-run.ts'
export { arbitraryFor } from './schema/arbitrary-for.ts'
export {
  type ChangedValue,
  changedValues,
  emptiedValues,
  type RemovablePath,
  removablePaths,
  without,
} from './schema/changed-values.ts'
export type {
  CallFate,
  Disturbance,
  EventFate,
  RequestFate,
  ResponseFate,
  SeamCall,
  SeamEvent,
  SeamRequest,
  SeamTimer,
} from './world/disturbance.ts'
export { type OutsideClient, type OutsideRecord, OutsideService } from './world/outside-service.ts'
export { type OutsideCall, OutsideCallError, type OutsidePlace, type OutsideWorld } from './world/outside-world.ts'
export type { SchedulerStep } from './world/run-log.ts'
export { formatEntry, Trace, type TraceEntry } from './world/trace.ts'
export { createWorld, World, type WorldOptions } from './world/world.ts'
