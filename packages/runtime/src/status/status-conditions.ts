/** Conditions that the runtime itself writes to the status of a resource. */
import { isBuiltInGroup, isInvalid, type KubeClient, type KubeObject, type Resource, type Stored } from '@reeve/kube'
import { type Condition, getCondition } from './condition.ts'
import { writeStatus } from './write-status.ts'

/** The input of writes. */
interface WriteContext {
  readonly client: KubeClient
  readonly signal: AbortSignal
  readonly fieldManager?: string
}

/**
 * Changes the conditions of a status and nothing else in it.
 *
 * The runtime does not know the schema of a status. Where that has no `conditions`, the server drops them without an
 * error; this is noticed after the first write, and nothing is written from then on.
 */
export class StatusConditions<T extends KubeObject> {
  readonly #resource: Resource<T>
  #isSupported: boolean

  /** @param isWhole objects are cached with their status, so that writing one back loses nothing */
  constructor(resource: Resource<T>, isWhole = true) {
    this.#resource = resource
    this.#isSupported = isWhole && isCustom(resource)
  }

  /** Whether the schema has conditions, as far as it is known. */
  get isSupported(): boolean {
    return this.#isSupported
  }

  /** The condition of a type, if there is one. */
  get(object: KubeObject, type: string): Condition | undefined {
    return getCondition(conditionsOf(object), type)
  }

  /** The status with changed conditions; the same one when they do not change or cannot be kept. */
  change(status: unknown, change: (conditions: readonly Condition[]) => readonly Condition[]): unknown {
    if (!this.#isSupported) return status
    const before = conditionsIn(status)
    const after = change(before)
    return after === before ? status : { ...(status as object | undefined), conditions: after }
  }

  /** Writes changed conditions, if they differ. *Errors*: those of `writeStatus`. */
  async write(
    object: Stored<T>,
    change: (conditions: readonly Condition[]) => readonly Condition[],
    { client, ...options }: WriteContext,
  ): Promise<void> {
    const before = (object as { readonly status?: unknown }).status
    const status = this.change(before, change)
    if (status === before) return
    const { signal, fieldManager } = options
    // What the schema lacks is learned below.
    const given = { signal, fieldValidation: 'Ignore', ...(fieldManager !== undefined && { fieldManager }) } as const
    try {
      this.learn(status, await writeStatus(client, this.#resource, object, status as never, given))
    } catch (error) {
      // The schema may require members that this status does not have yet; the operator writes them, not the runtime.
      if (!isInvalid(error)) throw error
    }
  }

  /** Compares what was sent with what the server kept; `undefined` when there is no status to write to. */
  learn(sent: unknown, written: KubeObject | undefined): void {
    if (conditionsIn(sent).length > 0 && written !== undefined && conditionsOf(written).length === 0) {
      this.#isSupported = false
    }
  }
}

/** Conditions of built-in kinds have other fields and other owners. */
function isCustom({ group }: Resource): boolean {
  return !isBuiltInGroup(group)
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  return conditionsIn((object as { readonly status?: unknown }).status)
}

const NONE: readonly Condition[] = []

/** A status of any schema: `conditions` are those of the API convention, or it is not an array. */
function conditionsIn(status: unknown): readonly Condition[] {
  const conditions = (status as { readonly conditions?: unknown } | null | undefined)?.conditions
  return Array.isArray(conditions) ? conditions : NONE
}
