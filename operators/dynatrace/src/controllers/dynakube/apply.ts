/** Brings the objects of a DynaKube about, component by component, and removes what it no longer asks for. */
import {
  ConfigMaps,
  DaemonSets,
  Deployments,
  type KubeClient,
  type Resource,
  Secrets,
  Services,
  StatefulSets,
  type Stored,
} from '@reeve/kube'
import {
  AcceptedDifferences,
  type Action,
  applyPlan,
  type Change,
  type DesiredObject,
  FieldTreePool,
  type LiveView,
  planDesired,
  planPruning,
  StaleViewError,
} from '@reeve/runtime'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import type { Component, ObjectId } from './component.ts'
import { ISTIO_KINDS } from './components/istio/resources.ts'
import type { Mesh } from './mesh.ts'
import type { Rendered } from './render.ts'

/** Who writes the fields of what the operator makes. */
export const FIELD_MANAGER = 'dynatrace-operator'

/** The kinds that a DynaKube owns in every cluster. In a mesh there are those of Istio as well. */
export const OWNED = [ConfigMaps, Secrets, Services, DaemonSets, Deployments, StatefulSets] as const

/** Those of them whose pods read what others hold. */
const RUNS_PODS = [DaemonSets, Deployments, StatefulSets] as const

/** Why the objects of a component could not all be written. */
export interface ApplyFailure {
  readonly error: Error
  /** Which of them it was: those before it were written, it and those after it were not. */
  readonly index: number
}

/** What became of the components. */
export interface Applied {
  readonly changes: readonly Change[]
  readonly failures: ReadonlyMap<Component, ApplyFailure>
  /** Why objects that are no longer asked for could not be removed. */
  readonly leftovers: readonly Error[]
}

/** What writing needs of a pass. */
export interface ApplyContext {
  readonly client: KubeClient
  readonly cache: LiveView
  /** Without it, objects of Istio are neither written nor removed. */
  readonly mesh?: Mesh | undefined
  readonly signal: AbortSignal
}

/** Writes the objects of DynaKubes. Remembers, within bounds, how the server rewrites what it is given. */
export class DynaKubeApplier {
  readonly #trees = new FieldTreePool()
  readonly #accepted = new AcceptedDifferences()

  /**
   * Applies each component on its own, object by object: what was written before a failure stays, as a token that the
   * environment made must not be lost. Then prunes. Objects of a component that could not be rendered are kept.
   *
   * *Errors*: `StaleViewError` when the view was old. Everything else is told per component.
   */
  async apply(owner: Stored<DynaKube>, rendered: readonly Rendered[], context: ApplyContext): Promise<Applied> {
    const changes: Change[] = []
    const failures = new Map<Component, ApplyFailure>()
    for (const { component, objects } of rendered) {
      const [lacking] = component.reads?.flatMap((read) => failures.get(read) ?? []) ?? []
      for (const [index, object] of objects.entries()) {
        if (lacking !== undefined && RUNS_PODS.some(({ kind }) => kind === object.resource.kind)) {
          failures.set(component, { error: lacking.error, index })
          break
        }
        // One look per pass is enough: whoever deletes the DynaKube later is noticed by the next one.
        const ownerResource = changes.some(({ type }) => type === 'created') ? undefined : DynaKubes
        const outcome = await told(context, () => this.bring(owner, [object], context, ownerResource))
        if (outcome instanceof Error) {
          failures.set(component, { error: outcome, index })
          break
        }
        changes.push(...outcome)
      }
    }
    const leftovers: Error[] = []
    for (const deletion of deletions(owner, rendered, context)) {
      const outcome = await told(context, () => this.#write(owner, [deletion], context))
      if (outcome instanceof Error) leftovers.push(outcome)
      else changes.push(...outcome)
    }
    return { changes, failures, leftovers }
  }

  /** Brings some objects about and leaves all others as they are. *Errors*: those of the engine and of the cluster. */
  async bring(
    owner: Stored<DynaKube>,
    objects: readonly DesiredObject[],
    context: ApplyContext,
    ownerResource?: Resource,
  ): Promise<readonly Change[]> {
    const input = { owner, view: viewOf(context), desired: objects, kinds: [], ...this.#shared }
    return this.#write(owner, planDesired(input), context, ownerResource)
  }

  get #shared() {
    return { fieldManager: FIELD_MANAGER, trees: this.#trees, accepted: this.#accepted }
  }

  async #write(
    owner: Stored<DynaKube>,
    actions: readonly Action[],
    context: ApplyContext,
    ownerResource?: Resource,
  ): Promise<readonly Change[]> {
    const { client, mesh, signal } = context
    const { changes } = await applyPlan({
      ...this.#shared,
      owner,
      ...(ownerResource && { ownerResource }),
      client,
      view: viewOf(context),
      actions,
      conflicts: 'force',
      signal,
    })
    mesh?.record(changes)
    return changes
  }
}

/** The failure as a value, unless there is no point in going on. */
async function told<T>({ signal }: ApplyContext, write: () => Promise<T>): Promise<T | Error> {
  try {
    return await write()
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof StaleViewError || !(error instanceof Error)) throw error
    return error
  }
}

const viewOf = ({ cache, mesh }: ApplyContext): LiveView => mesh?.over(cache) ?? cache

function deletions(owner: Stored<DynaKube>, rendered: readonly Rendered[], context: ApplyContext): readonly Action[] {
  const retained = new Set(
    rendered
      .filter(({ failure }) => failure !== undefined)
      .flatMap(({ component }) => component.mayOwn(owner).map(textOf)),
  )
  const desired = rendered.flatMap(({ objects }) => objects)
  const kinds = context.mesh === undefined ? OWNED : [...OWNED, ...ISTIO_KINDS]
  return planPruning({ owner, desired, kinds, view: viewOf(context) }).filter(
    ({ resource, live }) => !retained.has(textOf({ resource, name: live.metadata.name })),
  )
}

const textOf = ({ resource, name }: ObjectId): string => `${resource.kind}/${name}`
