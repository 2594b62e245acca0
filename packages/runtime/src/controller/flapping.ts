/** Notices reconciles that run only because of what they wrote themselves, and write it again without end. */
import type { Clock } from '@reeve/http'
import { formatKey, type KubeClient, type KubeObject, type ObjectKey, type Resource, type Stored } from '@reeve/kube'
import type { Informer } from '../cache/informer.ts'
import type { ClientCall } from '../client/intercept.ts'
import { cachedObject } from '../client/reconcile-client.ts'
import { plainJsonDiff } from '../json/json-diff.ts'
import type { Logger } from '../logging/logger.ts'
import { LruMap } from '../lru-map.ts'
import type { Reason } from '../queue/reason.ts'
import type { WorkItem } from '../queue/work-item.ts'
import { describeObject } from '../runtime-error.ts'
import { type Condition, removeCondition } from '../status/condition.ts'
import { STALLED_CONDITION, withStall } from '../status/stalled.ts'
import { StatusConditions } from '../status/status-conditions.ts'
import { FlappingError } from './controller-error.ts'

/**
 * Runs that only their own writes cause, and that change the same object. A reconcile that works in steps ends before; one
 * that flaps gets here within a second.
 */
export const MAX_ROUNDS = 20

/** Keys that are remembered: only those that have not come to rest. */
const MAX_KEYS = 4_096

/** Of one key, and of one reconcile. What is beyond is not observed. */
const MAX_OBJECTS = 50

/** Named in the error. */
const MAX_FIELDS = 5

/** Change with every write. */
const BOOKKEEPING = /^metadata\.(resourceVersion|generation|managedFields)\b/

/** What a reconcile changed in the cache: nothing else can cause another reconcile. */
export class ChangedObjects {
  readonly #informersOf: (resource: Resource) => readonly Informer<KubeObject>[]
  /** Made when they are needed: most reconciles write nothing. */
  #changes: Map<string, { readonly before: KubeObject | undefined; readonly after: KubeObject | undefined }> | undefined
  #names: Set<string> | undefined

  constructor(informersOf: (resource: Resource) => readonly Informer<KubeObject>[]) {
    this.#informersOf = informersOf
  }

  /** Call it before a write; the function that it returns after the response. */
  begin({ verb, resource, key }: ClientCall): (response: unknown) => void {
    if (resource === undefined || verb === 'deletecollection') return () => undefined
    const informers = this.#informersOf(resource)
    const before = cachedObject(informers, key)
    return (response) => {
      // Deletions and subresources may return something else.
      const written = response as KubeObject
      // Only the response has the name that the server generates.
      const cached = cachedObject(informers, key.name === undefined ? { ...key, ...written.metadata } : key)
      // The cache may show already what somebody else made of it. What is not cached at all causes no event.
      const isComparable = verb !== 'delete' && cached !== undefined && cached.kind === written.kind
      const after = isComparable && versionOf(cached) !== versionOf(written) ? written : cached
      if (versionOf(before) === versionOf(after)) return
      this.#changes ??= new Map()
      this.#names ??= new Set()
      const id = idOf(resource, before, after)
      if (this.#changes.size >= MAX_OBJECTS && !this.#changes.has(id)) return
      if (this.#names.size < MAX_OBJECTS) this.#names.add(describeObject((after ?? before) as KubeObject))
      this.#changes.set(id, { before: this.#changes.get(id)?.before ?? before, after })
    }
  }

  get isEmpty(): boolean {
    return this.#changes === undefined
  }

  /** Such as `ConfigMap shop/web`. */
  get names(): ReadonlySet<string> {
    return this.#names ?? new Set()
  }

  get ids(): readonly string[] {
    return [...(this.#changes?.keys() ?? [])]
  }

  /** Such as `ConfigMap shop/web (data.color)`. Names fields, never values: they may be secret. */
  describe(id: string): string {
    const { before, after } = this.#changes?.get(id) ?? {}
    if (before === undefined || after === undefined) return id
    const paths = [...new Set(plainJsonDiff(before, after).map(({ path }) => fieldPath(path)))]
    const fields = paths.filter((path) => !BOOKKEEPING.test(path))
    const shown = fields.slice(0, MAX_FIELDS).join(', ')
    const more = fields.length > MAX_FIELDS ? ` and ${fields.length - MAX_FIELDS} more` : ''
    return fields.length === 0 ? id : `${id} (${shown}${more})`
  }
}

function versionOf(object: KubeObject | undefined): string | undefined {
  return object?.metadata.resourceVersion
}

/** Objects that are created or deleted may have another name each time. */
function idOf({ kind }: Resource, before: KubeObject | undefined, after: KubeObject | undefined): string {
  if (before === undefined) return `a new ${kind} each time`
  return after === undefined ? `the deletion of a ${kind} each time` : describeObject(after)
}

/** `spec.containers[0].image` for the JSON pointer `/spec/containers/0/image`. */
function fieldPath(pointer: string): string {
  const names = pointer.split('/').slice(1)
  const text = names.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`)).join('')
  return text.replace(/^\./, '').replaceAll('~1', '/').replaceAll('~0', '~')
}

/** A key since it last came to rest, or since its object was changed. */
interface Chain {
  /** What the last run changed. */
  readonly names: ReadonlySet<string>
  /** What people had declared at its end. */
  readonly declared: string
  /** How many runs changed each object because of what the runs before had changed. */
  readonly rounds: Map<string, number>
  /** Set while the key flaps. */
  readonly flaps: { readonly error: FlappingError; readonly ids: readonly string[] } | undefined
}

/** A reconcile that ended without an error. */
export interface EndedReconcile<T extends KubeObject> {
  readonly key: ObjectKey
  readonly cause: Pick<WorkItem<ObjectKey>, 'isEcho' | 'reasons'>
  readonly changed: ChangedObjects
  /** The object of the controller at the beginning. */
  readonly before: Stored<T> | undefined
  /** The same at the end. */
  readonly after: () => Stored<T> | undefined
}

/** What reporting needs of a reconcile. */
interface FlappingContext {
  readonly client: KubeClient
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * The flapping keys of one controller.
 *
 * *Guarantees*: a key that comes to rest after some writes, in however many reconciles that anything else causes, never
 * counts as flapping; nothing is compared before a key flaps; memory is bounded.
 */
export class FlappingKeys<T extends KubeObject> {
  readonly #conditions: StatusConditions<T>
  /** Of the condition. */
  readonly #manager: { readonly fieldManager?: string }
  readonly #chains = new LruMap<string, Chain>(MAX_KEYS)

  /** @param isWhole objects are cached with their status */
  constructor(resource: Resource<T>, isWhole: boolean, fieldManager: string | undefined) {
    this.#conditions = new StatusConditions(resource, isWhole)
    this.#manager = fieldManager === undefined ? {} : { fieldManager }
  }

  /**
   * Whether events of the key wait for its back-off: while it flaps, and nobody changes its object. What it writes makes
   * others write as well, such as the status of a Deployment.
   */
  holds(key: ObjectKey, object: () => Stored<T> | undefined): boolean {
    if (this.#chains.size === 0) return false
    const chain = this.#chains.get(formatKey(key))
    return chain?.flaps !== undefined && chain.declared === declaredBy(object())
  }

  /** Starts anew: what failed has a back-off anyway. */
  forget(key: ObjectKey): void {
    if (this.#chains.size > 0) this.#chains.delete(formatKey(key))
  }

  /**
   * Call it when a reconcile has ended without an error. Returns undefined when there is nothing to do, as it is for most.
   * *Errors*: {@link FlappingError} while the key flaps, after the condition `Stalled` was set.
   */
  check(ended: EndedReconcile<T>, context: FlappingContext): Promise<void> | undefined {
    const { key, before, changed } = ended
    if (changed.isEmpty) {
      this.forget(key)
      // Also a condition that an earlier process has left.
      const isMarked = before !== undefined && this.#conditions.get(before, STALLED_CONDITION)?.reason === 'Flapping'
      return isMarked ? this.#unmark(before, context) : undefined
    }
    const after = ended.after()
    const error = this.#note(ended, after)
    return error && this.#fail(after, error, context)
  }

  #note({ key, cause, changed, before }: EndedReconcile<T>, after: Stored<T> | undefined): FlappingError | undefined {
    const known = this.#chains.get(formatKey(key))
    const last = known?.declared === declaredBy(before) ? known : undefined
    const rounds = last?.rounds ?? new Map<string, number>()
    const isSelfCaused = cause.isEcho || isReaction(cause.reasons, last?.names, changed.names)
    let flaps = last?.flaps
    if (flaps === undefined) flaps = isSelfCaused ? flapsAfter(rounds, changed) : undefined
    else if (!flaps.ids.some((id) => changed.ids.includes(id))) flaps = undefined
    this.#chains.set(formatKey(key), { names: changed.names, declared: declaredBy(after), rounds, flaps })
    return flaps?.error
  }

  #unmark(object: Stored<T>, context: FlappingContext): Promise<void> {
    const remove = (conditions: readonly Condition[]) => removeCondition(conditions, STALLED_CONDITION)
    return this.#conditions.write(object, remove, { ...context, ...this.#manager })
  }

  async #fail(object: Stored<T> | undefined, error: FlappingError, context: FlappingContext): Promise<never> {
    const stall = { reason: 'Flapping', message: error.message } as const
    const mark = (conditions: readonly Condition[]) => withStall(conditions, stall, context.clock)
    try {
      if (object !== undefined) await this.#conditions.write(object, mark, { ...context, ...this.#manager })
    } catch (failure) {
      // The error itself is what matters.
      context.logger.debug({ err: failure }, 'could not report in the status that the object flaps')
    }
    throw error
  }
}

/** Counts a run, and says whether it is one too many. */
function flapsAfter(rounds: Map<string, number>, changed: ChangedObjects): Chain['flaps'] {
  const { ids } = changed
  for (const id of ids) {
    if (rounds.has(id) || rounds.size < MAX_OBJECTS) rounds.set(id, (rounds.get(id) ?? 0) + 1)
  }
  const changedIn = (count: number) => ids.filter((id) => (rounds.get(id) ?? 0) >= count)
  if (changedIn(MAX_ROUNDS).length === 0) return undefined
  // What changed only now and then is not what keeps it going.
  const flapping = changedIn(MAX_ROUNDS / 2)
  return { ids: flapping, error: new FlappingError(flapping.map((id) => changed.describe(id))) }
}

/**
 * Whether each object that caused a run is one that the run before had changed and that this run changed again: somebody
 * reacts to the writes, such as the controller that reports the status of a Deployment.
 */
function isReaction(
  reasons: readonly Reason[],
  last: ReadonlySet<string> | undefined,
  now: ReadonlySet<string>,
): boolean {
  const objects = reasons.filter(({ event }) => event !== 'requeue')
  return (
    objects.length > 0 &&
    objects.every(({ kind, namespace, name = '' }) => {
      const object = kind && describeObject({ kind, metadata: { name, ...(namespace !== undefined && { namespace }) } })
      return object !== undefined && now.has(object) && (last?.has(object) ?? false)
    })
  )
}

/** What people have declared: changes of it are worth another try. */
function declaredBy(object: KubeObject | undefined): string {
  const { uid, generation, labels, annotations, deletionTimestamp } = object?.metadata ?? {}
  return JSON.stringify([uid, generation, labels, annotations, deletionTimestamp])
}
