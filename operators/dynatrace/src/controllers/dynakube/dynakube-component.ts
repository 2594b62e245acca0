/** What the components of a DynaKube have in common. */
import type { Component, Reporter } from '@reeve/runtime'
import type { AnyComponent, RenderInput as EngineInput, ResolveContext } from '@reeve/runtime/components'
import type { DynaKube, DynaKubeStatus } from '../../api/latest.ts'
import { NamespaceView } from '../references/namespace-view.ts'
import type { DynaKubeDependencies, OperatorFacts } from './dependencies.ts'

/**
 * A feature of a DynaKube: when it is enabled, what it needs, what it resolves, what it renders, when it is ready and
 * which conditions it reports. It lives in one folder below `components` and has one line in `components.ts`.
 */
export type DynaKubeComponent<Facts = undefined> = Component<DynaKube, Facts, DynaKubeDependencies>

/** A component with any facts. */
export type AnyDynaKubeComponent = AnyComponent<DynaKube, DynaKubeDependencies>

/** What `resolve` of a component works with. */
export type DynaKubeContext = ResolveContext<DynaKube, DynaKubeDependencies>

/** What `render` of a component is given. */
export type DynaKubeInput<Facts = unknown> = EngineInput<DynaKube, Facts, DynaKubeDependencies>

/** Collects what components report about a DynaKube. */
export type DynaKubeReporter = Reporter<DynaKube>

/** A DynaKube that has a status. */
export type WithStatus = DynaKube & { readonly status: DynaKubeStatus }

/** The input of functions that render parts of objects. */
export interface RenderInput {
  /** With the status reported so far. */
  readonly dynakube: WithStatus
  readonly operator: OperatorFacts
}

/** The input of functions that render parts of objects. */
export const renderInputOf = ({ primary, dependencies }: DynaKubeInput): RenderInput => ({
  dynakube: withStatus(primary),
  operator: dependencies.operator,
})

/** The DynaKube with an empty status instead of none. */
export const withStatus = (dynakube: DynaKube): WithStatus => ({ ...dynakube, status: dynakube.status ?? {} })

/** What the cache shows of the namespace of a DynaKube. */
export const viewOf = ({ cache, primary }: Pick<DynaKubeContext, 'cache' | 'primary'>): NamespaceView =>
  new NamespaceView(cache, primary.metadata.namespace ?? '')

/** `isReady` of a component without a workload. */
export const runsNoPods = (): boolean => true

/** Members of a component that renders nothing: it resolves facts, or acts on the tenant. */
export const RENDERS_NOTHING = { mayOwn: () => [], isReady: runsNoPods } as const
