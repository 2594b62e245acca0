/** Makes components of the engine of the components of a DynaKube. */
import { randomBytes } from 'node:crypto'
import { type DesiredObject, type Component as EngineComponent, type Reporter, waiting } from '@reeve/runtime'
import type { AnyOutcome, ResolveContext } from '@reeve/runtime/components'
import type { DynaKube } from '../../api/latest.ts'
import { createTenantClient, type TenantClient } from '../../tenant/client/tenant-client.ts'
import { NamespaceView } from '../references/namespace-view.ts'
import { withTemplateHash } from '../rendering/template-hash.ts'
import { type Component, NotYetKnownError } from './component.ts'
import type { DynaKubeDependencies } from './dependencies.ts'
import { reportObjects } from './object-conditions.ts'
import type { Material } from './render-input.ts'
import type { ClusterPass } from './resolve/pass.ts'
import { StatusDraft } from './status-draft.ts'

/** What components know of each other: texts for rendering, and the way to the tenant. */
export interface DynaKubeFacts extends Material {
  readonly tenant?: TenantClient
  /** Namespaces whose pods get injected. */
  readonly injectedNamespaces?: readonly string[]
  /** What is copied into them. */
  readonly copiedSecrets?: readonly DesiredObject[]
}

/** A component of the engine for DynaKubes. */
export type DynaKubeComponent = EngineComponent<DynaKube, DynaKubeFacts, DynaKubeDependencies>

/** What `resolve` of such a component works with. */
export type DynaKubeContext = ResolveContext<DynaKube, DynaKubeDependencies>

/** What steps work with before the tenant is known. */
export function clusterPassOf(context: DynaKubeContext): ClusterPass {
  const { cache, clock, dependencies, logger, primary, reporter, signal } = context
  return {
    draft: new StatusDraft(reporter, clock),
    view: new NamespaceView(cache, primary.metadata.namespace ?? ''),
    operator: dependencies.operator,
    clock,
    logger,
    signal,
    randomBytes: dependencies.randomBytes ?? randomBytes,
    selfSigned: (subject, now) => dependencies.certificates.make(subject, now, signal),
  }
}

/** Connects to the tenant. */
export const connectorOf = ({ dependencies }: Pick<DynaKubeContext, 'dependencies'>) =>
  dependencies.connect ?? createTenantClient

/**
 * The components as the engine runs them: all need the tenant, and what they know of each other is what rendering takes.
 *
 * @example
 * const engine = new EngineComponents(tenant)
 * reconcileComponents({ components: [tenant, ...COMPONENTS.map((component) => engine.of(component))] })
 */
export class EngineComponents {
  readonly #tenant: DynaKubeComponent | undefined
  readonly #made = new Map<Component, DynaKubeComponent>()

  /** @param tenant undefined for components that come before it */
  constructor(tenant?: DynaKubeComponent) {
    this.#tenant = tenant
  }

  /** The one of the engine for one of a DynaKube; always the same. */
  of(component: Component): DynaKubeComponent {
    const known = this.#made.get(component)
    if (known !== undefined) return known
    const made = this.#make(component)
    this.#made.set(component, made)
    return made
  }

  #make(component: Component): DynaKubeComponent {
    const needs = [...(this.#tenant ? [this.#tenant] : []), ...(component.needs ?? []).map((need) => this.of(need))]
    const after = (component.after ?? []).map((one) => this.of(one))
    const { resolve, isEnabled, isReady } = component
    return {
      name: component.name,
      needs,
      after,
      isOptional: component.isOptional ?? false,
      ...(isEnabled && { isEnabled: (dynakube: DynaKube) => isEnabled(dynakube) }),
      mayOwn: (dynakube) => component.mayOwn(dynakube),
      resolve: async (context) => {
        const { tenant } = (this.#tenant && context.factsOf(this.#tenant)) ?? {}
        if (resolve === undefined || tenant === undefined) return {}
        const outcomeOf = (other: Component) => context.outcomeOf(this.of(other))
        return (await resolve({ ...clusterPassOf(context), tenant }, { cache: context.cache, outcomeOf })) ?? {}
      },
      render: ({ primary, facts, factsOf, dependencies: { operator } }) => {
        const material = { ...materialOf([...needs, ...after], factsOf), ...facts }
        return rendered(() =>
          component.render({ dynakube: { ...primary, status: primary.status ?? {} }, operator, material }),
        )
      },
      isReady: ({ primary, cache }) => isReady?.(primary, cache) ?? true,
      report: (outcome, reporter) => report(component, outcome, reporter),
    }
  }
}

/** The facts of components and of all that they need. */
function materialOf(
  components: readonly EngineComponent<DynaKube, unknown, DynaKubeDependencies>[],
  factsOf: (component: DynaKubeComponent) => DynaKubeFacts | undefined,
): DynaKubeFacts {
  let material: DynaKubeFacts = {}
  for (const component of components) {
    const before = materialOf([...(component.needs ?? []), ...(component.after ?? [])], factsOf)
    // All components of a DynaKube have these facts.
    material = { ...material, ...before, ...factsOf(component as DynaKubeComponent) }
  }
  return material
}

function rendered(render: () => ReturnType<Component['render']>) {
  try {
    return render().map(withTemplateHash)
  } catch (error) {
    if (error instanceof NotYetKnownError) return waiting(error.what)
    throw error
  }
}

function report(component: Component, outcome: AnyOutcome<DynaKube>, reporter: Reporter<DynaKube>): void {
  // Times of conditions are the reporter's business.
  const draft = new StatusDraft(reporter, { now: () => 0 })
  if (outcome.state === 'disabled') component.disable?.(draft)
  reportObjects(draft, component.conditions?.(draft.dynakube) ?? [], outcome)
}
