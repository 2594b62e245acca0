/** What the console sends to the browser. No secrets, no functions: every value is JSON. Shared with the page. */

/** How a thing stands; shown with a colour and a word. */
export type Health = 'good' | 'progressing' | 'bad' | 'unknown'

/** One field that a write changed. A member is absent where the field is. */
export interface FieldChange {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** One write of a reconcile. */
export interface Write {
  readonly verb: string
  readonly kind: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
  readonly durationMs: number
  readonly failure?: string
  /** Absent when the state before was not known. */
  readonly changes?: readonly FieldChange[]
}

/** Which event on which object caused a reconcile. */
export interface Cause {
  readonly event: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
}

/** One reconcile. */
export interface Reconcile {
  /** Ascending in the order of ends; unique as long as the operator runs. */
  readonly sequence: number
  readonly operator: string
  readonly controller: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly reconcileId: string
  readonly causes: readonly Cause[]
  readonly omittedCauses: number
  readonly attempt: number
  readonly startedMs: number
  readonly waitedMs: number
  readonly durationMs: number
  readonly stages: readonly { readonly name: string; readonly durationMs: number }[]
  readonly writes: readonly Write[]
  readonly omittedWrites: number
  readonly outcome: string
  readonly error?: string
  readonly errorCode?: string
  readonly nextRunMs?: number
}

/** A condition of a resource. */
export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** A resource in the list. */
export interface ResourceRow {
  /** Unique among all rows. */
  readonly id: string
  readonly operator: string
  readonly controller: string
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly phase: string
  readonly health: Health
  /** Why it is not good, or what it is doing. */
  readonly message: string
  readonly createdMs: number
  readonly lastReconcile?: { readonly endedMs: number; readonly outcome: string; readonly durationMs: number }
  /** Failures in a row. */
  readonly failures: number
  readonly isPaused: boolean
}

/** A change of a condition that was observed. */
export interface ConditionChange {
  readonly atMs: number
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

/** An object that belongs to a resource. */
export interface OwnedObject {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly health: Health
  readonly message: string
  readonly createdMs: number
  /** The last write of this operator that changed it. */
  readonly lastWriteMs?: number
  readonly children: readonly OwnedObject[]
}

/** An event about a resource. */
export interface ResourceEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly lastMs: number
}

/** Everything about one resource. */
export interface ResourceDetail {
  readonly row: ResourceRow
  readonly conditions: readonly Condition[]
  readonly history: readonly ConditionChange[]
  readonly owned: readonly OwnedObject[]
  readonly events: readonly ResourceEvent[]
  /** Why there are no events, such as a missing right. */
  readonly eventsProblem?: string
  readonly reconciles: readonly Reconcile[]
  /** The object without status, secrets and bookkeeping, to read and to edit for a plan. */
  readonly yaml: string
  readonly statusYaml: string
}

/** A planned change of an object. */
export interface PlannedChange {
  readonly action: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly fields: readonly FieldChange[]
  readonly manifest?: Readonly<Record<string, unknown>>
}

/** What the next reconcile would write, or would if a resource were applied. */
export interface PlanResult {
  readonly changes: readonly PlannedChange[]
  readonly unchanged: number
  readonly findings: readonly { readonly severity: string; readonly message: string; readonly object?: string }[]
  /** Why there is no plan. */
  readonly problem?: string
}

/** A controller in the overview. */
export interface ControllerInfo {
  readonly name: string
  readonly kind: string
  readonly apiVersion: string
}

/** An operator in the overview. */
export interface OperatorInfo {
  readonly name: string
  readonly isLeader: boolean
  readonly controllers: readonly ControllerInfo[]
  readonly views: readonly { readonly id: string; readonly title: string }[]
}

/** What is running. */
export interface Overview {
  /** Differs after each start of the process. */
  readonly instance: string
  readonly startedMs: number
  readonly nowMs: number
  readonly operators: readonly OperatorInfo[]
}

/** The state of a watch. */
export interface InformerInfo {
  readonly operator: string
  readonly description: string
  readonly state: string
  readonly isSynced: boolean
  readonly isHealthy: boolean
  readonly objects: number
  readonly lastContactMs?: number
  readonly lists: number
  readonly watches: number
  readonly failures: number
  readonly lastFailure?: { readonly reason: string; readonly message: string; readonly atMs: number }
}

/** A sample of a controller. */
export interface ControllerSample {
  /** `operator/controller`. */
  readonly name: string
  readonly depth: number
  readonly reconciles: number
  readonly errors: number
  /** The longest wait in the queue since the last sample. */
  readonly waitedMs: number
}

/** A sample of the process. */
export interface HealthSample {
  readonly atMs: number
  readonly controllers: readonly ControllerSample[]
  readonly residentBytes: number
  readonly heapBytes: number
  readonly loopDelayMs: number
  readonly requests: number
}

/** Requests to the API server. */
export interface RequestCount {
  readonly verb: string
  readonly status: string
  readonly count: number
}

/** The state of the process. */
export interface HealthInfo {
  readonly samples: readonly HealthSample[]
  readonly informers: readonly InformerInfo[]
  readonly requests: readonly RequestCount[]
  readonly leaders: readonly { readonly operator: string; readonly isLeader: boolean; readonly remainingMs?: number }[]
  readonly checks: readonly { readonly operator: string; readonly name: string; readonly failure?: string }[]
}

/** One value of a view. */
export interface CellValue {
  readonly text: string
  readonly tone?: 'good' | 'warning' | 'bad' | 'neutral'
  readonly detail?: string
}

/** A table of a view. */
export interface TableValue {
  readonly type: 'table'
  readonly title: string
  /** Shown when there are no rows. */
  readonly empty: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (CellValue | string)[])[]
}

/** Named values of a view. */
export interface FactsValue {
  readonly type: 'facts'
  readonly title: string
  readonly facts: readonly (readonly [string, CellValue | string])[]
}

/** A part of a view that an operator describes as values. */
export type SectionValue = TableValue | FactsValue

/** A button of a board: what it sends. */
export interface BoardAction {
  readonly label: string
  readonly method: 'POST' | 'DELETE'
  readonly path: string
}

/** One field of a form. Fields that are left empty are not sent. */
export interface BoardField {
  readonly name: string
  readonly label: string
  readonly input: { readonly options: readonly (readonly [value: string, title: string])[] } | { readonly max: number }
  readonly placeholder?: string
}

/** A part of a board: as in a view, with buttons; or a form whose fields are sent as JSON. */
export type BoardSection =
  | (TableValue & {
      readonly note?: string
      readonly actions?: readonly BoardAction[]
      /** One for each row. */
      readonly rowActions?: readonly BoardAction[]
    })
  | FactsValue
  | {
      readonly type: 'form'
      readonly title: string
      readonly fields: readonly BoardField[]
      readonly action: BoardAction
    }

/** A page of its own that shows values and has buttons. */
export interface BoardData {
  readonly title: string
  /** Which one of its kind it is, such as an address. */
  readonly subtitle: string
  readonly sections: readonly BoardSection[]
}

/** What the stream sends, a list at a time. */
export type StreamMessage =
  | { readonly type: 'reconcile'; readonly reconcile: Reconcile }
  | { readonly type: 'resource'; readonly row: ResourceRow }
  | { readonly type: 'gone'; readonly id: string }
  | { readonly type: 'sample'; readonly sample: HealthSample }
  /** Messages were dropped: load everything again. */
  | { readonly type: 'overflow' }

/** An object that ended differently, in both runs. */
export interface EndState {
  readonly object: string
  /** As text; absent where the object does not exist. */
  readonly undisturbed?: string
  readonly disturbed?: string
}

/** A run of an exploration that did not end as it should. */
export interface ReportedDivergence {
  readonly pattern: string
  readonly point: number
  readonly label: string
  readonly problems: readonly { readonly kind: string; readonly message: string }[]
  readonly trace: readonly {
    readonly atMs: number
    readonly instance: number
    readonly kind: string
    readonly text: string
  }[]
  readonly differences: readonly {
    readonly object: string
    readonly field: string
    readonly undisturbed?: unknown
    readonly disturbed?: unknown
  }[]
  readonly endStates: readonly EndState[]
  /** The command that runs it again. */
  readonly replay: string
  /** The steps of the scenario that are needed to see it. @default not known */
  readonly steps?: readonly string[]
}

/** An exploration of one operator. */
export interface ReportedExploration {
  readonly operator: string
  readonly scenario: string
  /** Absent where it decides nothing. */
  readonly seed?: number
  readonly runs: number
  readonly patterns: readonly {
    readonly number: string
    readonly pattern: string
    readonly title: string
    readonly coverage: string
    readonly points: number
    readonly explored: number
    readonly missed: number
    readonly divergences: number
    readonly durationMs: number
  }[]
  readonly divergences: readonly ReportedDivergence[]
  /** What was seen once and not again. @default nothing */
  readonly unconfirmed?: readonly { readonly pattern: string; readonly label: string; readonly message: string }[]
}

/** What a report of explorations shows. */
export interface ReportData {
  readonly generatedMs: number
  readonly durationMs: number
  readonly summary: string
  readonly explorations: readonly ReportedExploration[]
}
