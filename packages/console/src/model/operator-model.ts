/** What a console knows about one operator: fed by the runtime, read by the server. */
import type { KubeObject, ObjectKey, Resource } from '@reeve/kube'
import { apiVersionOf } from '@reeve/kube'
import type { Occurrence } from '@reeve/runtime'
import { isPaused, type ReconcileRecord } from '@reeve/runtime/controller'
import type { DescribedController, ObservedOperator, OperatorObserver } from '@reeve/runtime/operator'
import type { ControllerSample, OperatorInfo, Reconcile, ResourceRow, StreamMessage } from '../wire.ts'
import { ConditionHistory } from './condition-history.ts'
import { type Journal, resourceId } from './journal.ts'
import { LastReconciles } from './last-reconciles.ts'
import { conditionsOf, type ObjectState, stateOf } from './object-health.ts'
import { RecordedEvents } from './recorded-events.ts'
import { type Redact, redactorFor } from './secrets.ts'
import { writeDescriber } from './write-changes.ts'

/** What the models of all operators share. */
export interface SharedModel {
  readonly journal: Journal
  /** Additional secrets that must not be shown, such as the tokens of a vendor. */
  readonly secretPatterns: readonly RegExp[]
  nextSequence(): number
  publish(message: StreamMessage): void
}

/** A controller and the resource that it reconciles. */
export type KnownController = Pick<DescribedController, 'name' | 'resource' | 'owns'>

/** Counted since the last sample. */
interface Tally {
  reconciles: number
  errors: number
  waitedMs: number
}

const FAILURES: ReadonlySet<string> = new Set(['conflict', 'error', 'terminal', 'timeout'])

/** Observes one operator. */
export class OperatorModel implements OperatorObserver {
  readonly describeWrite: OperatorObserver['describeWrite']
  readonly history = new ConditionHistory()
  readonly events = new RecordedEvents()
  readonly #shared: SharedModel
  readonly #last = new LastReconciles()
  readonly #tallies = new Map<string, Tally>()
  #observed: ObservedOperator | undefined
  #controllers: readonly KnownController[] = []

  constructor(shared: SharedModel) {
    this.#shared = shared
    this.describeWrite = writeDescriber(shared.secretPatterns)
  }

  /** The operator, once it was created. */
  get observed(): ObservedOperator | undefined {
    return this.#observed
  }

  get controllers(): readonly KnownController[] {
    return this.#controllers
  }

  created(operator: ObservedOperator): readonly [] {
    this.#observed = operator
    // Only what is needed of them: the reconcile functions would keep what they have seen.
    this.#controllers = operator.describe().map(({ name, resource, owns }) => ({ name, resource, owns }))
    return []
  }

  reconciled(record: ReconcileRecord): void {
    const controller = this.#controllers.find(({ name }) => name === record.controller)
    if (this.#observed === undefined || controller === undefined) return
    const object = this.read(controller.resource, record.key)
    const reconcile = this.#reconcileOf(record, this.#observed.name, controller.resource.kind, object)
    this.#shared.journal.add(reconcile)
    this.#shared.publish({ type: 'reconcile', reconcile })
    this.#count(record)
    const id = resourceId(reconcile)
    if (object === undefined) {
      this.#last.delete(id)
      this.history.delete(id)
      this.#shared.publish({ type: 'gone', id })
      return
    }
    this.#last.set(id, record)
    this.history.observe(id, conditionsOf(object), record.startedMs + record.durationMs)
    this.#shared.publish({ type: 'resource', row: this.#rowOf(controller, object) })
  }

  recorded(object: KubeObject, occurrence: Occurrence): void {
    this.events.record(object, occurrence, Date.now(), this.redactorOf(object))
  }

  /** All resources, in no particular order. */
  rows(): readonly ResourceRow[] {
    return this.#controllers.flatMap((controller) =>
      this.#list(controller.resource).map((object) => this.#rowOf(controller, object)),
    )
  }

  /** One resource. */
  find(kind: string, key: ObjectKey): { readonly object: KubeObject; readonly row: ResourceRow } | undefined {
    for (const controller of this.#controllers.filter(({ resource }) => resource.kind === kind)) {
      const object = this.read(controller.resource, key)
      if (object !== undefined) return { object, row: this.#rowOf(controller, object) }
    }
    return undefined
  }

  /** An object from the cache; `undefined` also for what is not cached. */
  read(resource: Resource, key: ObjectKey): KubeObject | undefined {
    return unlessNotCached(() => this.#observed?.cache.get(resource, key))
  }

  /** The objects that a resource owns, from the cache. */
  ownedBy(uid: string): readonly KubeObject[] {
    const kinds = new Map(
      this.#controllers.flatMap(({ owns }) => owns).map(({ resource }) => [nameOf(resource), resource]),
    )
    return [...kinds.values()].flatMap(
      (resource) => unlessNotCached(() => this.#observed?.cache.ownedBy(resource, uid)) ?? [],
    )
  }

  /** For texts about a resource: knows its secrets, and those of the Secrets that it owns. */
  redactorOf(object: KubeObject | undefined): Redact {
    const { uid } = object?.metadata ?? {}
    const owned = uid === undefined ? [] : this.ownedBy(uid)
    return redactorFor(this.#shared.secretPatterns, object === undefined ? [] : [object, ...owned])
  }

  info(): OperatorInfo | undefined {
    const observed = this.#observed
    if (observed === undefined) return undefined
    return {
      name: observed.name,
      isLeader: observed.manager.leadership.isLeader,
      controllers: this.#controllers.map(({ name, resource }) => ({
        name,
        kind: resource.kind,
        apiVersion: apiVersionOf(resource),
      })),
      views: observed.views.map(({ id, title }) => ({ id, title })),
    }
  }

  /** The state of the controllers, and what happened since the last call. */
  sample(): readonly ControllerSample[] {
    const { name: operator = '', controllers = [] } = this.#observed ?? {}
    const samples = controllers.map(({ name, depth }) => {
      const { reconciles = 0, errors = 0, waitedMs = 0 } = this.#tallies.get(name) ?? {}
      return { name: `${operator}/${name}`, depth, reconciles, errors, waitedMs }
    })
    this.#tallies.clear()
    return samples
  }

  #list(resource: Resource): readonly KubeObject[] {
    return unlessNotCached(() => this.#observed?.cache.list(resource)) ?? []
  }

  #rowOf({ name: controller, resource }: KnownController, object: KubeObject): ResourceRow {
    const { namespace, name = '', creationTimestamp = '' } = object.metadata
    const { kind } = resource
    const operator = this.#observed?.name ?? ''
    const id = resourceId({ operator, kind, name, ...(namespace !== undefined && { namespace }) })
    const last = this.#last.get(id)
    const { phase, health, message } = stateWith(stateOf(object), last?.reconcile.outcome)
    return {
      id,
      operator,
      controller,
      apiVersion: apiVersionOf(resource),
      kind,
      ...(namespace !== undefined && { namespace }),
      name,
      phase,
      health,
      message: message === '' ? '' : this.redactorOf(object)(message),
      createdMs: Date.parse(creationTimestamp) || 0,
      ...(last && { lastReconcile: last.reconcile }),
      failures: last?.failures ?? 0,
      isPaused: isPaused(object),
    }
  }

  #reconcileOf(record: ReconcileRecord, operator: string, kind: string, object: KubeObject | undefined): Reconcile {
    const { key, reasons, omittedReasons, error, errorCode, nextRunMs, controller, reconcileId } = record
    return {
      sequence: this.#shared.nextSequence(),
      operator,
      controller,
      kind,
      ...(key.namespace !== undefined && { namespace: key.namespace }),
      name: key.name,
      reconcileId,
      causes: reasons,
      omittedCauses: omittedReasons,
      attempt: record.attempt,
      startedMs: record.startedMs,
      waitedMs: record.waitedMs,
      durationMs: record.durationMs,
      stages: record.stages,
      writes: record.writes,
      omittedWrites: record.omittedWrites,
      outcome: record.outcome,
      ...(error !== undefined && { error: this.redactorOf(object)(error) }),
      ...(errorCode !== undefined && { errorCode }),
      ...(nextRunMs !== undefined && { nextRunMs }),
    }
  }

  #count({ controller, waitedMs, outcome }: ReconcileRecord): void {
    const tally = this.#tallies.get(controller) ?? { reconciles: 0, errors: 0, waitedMs: 0 }
    tally.reconciles += 1
    if (FAILURES.has(outcome)) tally.errors += 1
    tally.waitedMs = Math.max(tally.waitedMs, waitedMs)
    this.#tallies.set(controller, tally)
  }
}

/** Resources without a status, such as those of others, stand as their last reconcile left them. */
function stateWith(state: ObjectState, outcome: string | undefined): ObjectState {
  if (state.health !== 'unknown' || state.phase !== '' || outcome === undefined) return state
  return FAILURES.has(outcome)
    ? { ...state, phase: 'Failing', health: 'bad' }
    : { ...state, phase: 'Reconciled', health: 'good' }
}

const nameOf = ({ group, plural }: Resource): string => `${plural}.${group}`

/** A standby, or an operator that is limited to namespaces, does not cache everything. */
function unlessNotCached<R>(read: () => R): R | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'NOT_CACHED') return undefined
    throw error
  }
}
