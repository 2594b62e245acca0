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
  keepOwnFields,
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

/**
 * What the cache keeps: which fields are the operator's own, as drift is told from other people's fields by it. All
 * controllers name this very function, and so share their informers.
 */
export const OWN_FIELDS = keepOwnFields(FIELD_MANAGER)

/** The kinds that a DynaKube owns in every cluster. In a mesh there are those of Istio as well. */
export const OWNED = [ConfigMaps, Secrets, Services, DaemonSets, Deployments, StatefulSets] as const

/** What became of the components. */
export interface Applied {
  readonly changes: readonly Change[]
  /** Why the objects of a component could not be written, by component. */
  readonly failures: ReadonlyMap<Component, Error>
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
   * Applies each component on its own, then prunes. Objects of a component that could not be rendered are kept.
   *
   * *Errors*: `StaleViewError` when the view was old. Everything else is told per component.
   */
  async apply(owner: Stored<DynaKube>, rendered: readonly Rendered[], context: ApplyContext): Promise<Applied> {
    const changes: Change[] = []
    const failures = new Map<Component, Error>()
    for (const { component, objects } of rendered) {
      // One look per pass is enough: whoever deletes the DynaKube later is noticed by the next one.
      const ownerResource = changes.some(({ type }) => type === 'created') ? undefined : DynaKubes
      try {
        changes.push(...(await this.bring(owner, objects, context, ownerResource)))
      } catch (error) {
        context.signal.throwIfAborted()
        if (error instanceof StaleViewError || !(error instanceof Error)) throw error
        failures.set(component, error)
      }
    }
    changes.push(...(await this.#write(owner, deletions(owner, rendered, context), context)))
    return { changes, failures }
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
    { client, mesh, signal }: ApplyContext,
    ownerResource?: Resource,
  ): Promise<readonly Change[]> {
    const { changes } = await applyPlan({
      ...this.#shared,
      owner,
      ...(ownerResource && { ownerResource }),
      client,
      actions,
      conflicts: 'force',
      signal,
    })
    mesh?.record(changes)
    return changes
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
