/** Brings the objects of a DynaKube about, component by component, and removes what it no longer asks for. */
import {
  ConfigMaps,
  DaemonSets,
  Deployments,
  type KubeClient,
  Secrets,
  Services,
  StatefulSets,
  type Stored,
} from '@reeve/kube'
import {
  AcceptedDifferences,
  applyPlan,
  type CacheReader,
  type Change,
  FieldTreePool,
  planDesired,
  planPruning,
  StaleViewError,
} from '@reeve/runtime'
import type { DynaKube } from '../../api/latest.ts'
import type { Component, ObjectId } from './component.ts'
import type { Rendered } from './render.ts'

/** Who writes the fields of what the operator makes. */
export const FIELD_MANAGER = 'dynatrace-operator'

/** The kinds that a DynaKube owns. */
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
  readonly cache: CacheReader
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
  async apply(
    owner: Stored<DynaKube>,
    rendered: readonly Rendered[],
    { client, cache, signal }: ApplyContext,
  ): Promise<Applied> {
    const shared = {
      owner,
      view: cache,
      fieldManager: FIELD_MANAGER,
      trees: this.#trees,
      accepted: this.#accepted,
    }
    const write = async (actions: Parameters<typeof applyPlan>[0]['actions']) =>
      (await applyPlan({ ...shared, client, actions, conflicts: 'force', signal })).changes
    const changes: Change[] = []
    const failures = new Map<Component, Error>()
    for (const { component, objects } of rendered) {
      try {
        changes.push(...(await write(planDesired({ ...shared, desired: objects, kinds: [] }))))
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof StaleViewError || !(error instanceof Error)) throw error
        failures.set(component, error)
      }
    }
    changes.push(...(await write(deletions(rendered, shared))))
    return { changes, failures }
  }
}

function deletions(
  rendered: readonly Rendered[],
  shared: { readonly owner: Stored<DynaKube>; readonly view: CacheReader },
) {
  const retained = new Set(
    rendered
      .filter(({ failure }) => failure !== undefined)
      .flatMap(({ component }) => component.mayOwn(shared.owner).map(textOf)),
  )
  const desired = rendered.flatMap(({ objects }) => objects)
  return planPruning({ ...shared, desired, kinds: OWNED }).filter(
    ({ resource, live }) => !retained.has(textOf({ resource, name: live.metadata.name })),
  )
}

const textOf = ({ resource, name }: ObjectId): string => `${resource.kind}/${name}`
