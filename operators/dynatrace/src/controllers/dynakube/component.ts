/** A feature of a DynaKube as a value: what it needs, what it renders, what it reports. */
import type { Resource } from '@reeve/kube'
import type { CacheReader, DesiredObject } from '@reeve/runtime'
import type { AnyOutcome, Waiting } from '@reeve/runtime/components'
import type { DynaKube } from '../../api/latest.ts'
import type { ObjectCondition } from './object-conditions.ts'
import type { Material, RenderInput } from './render-input.ts'
import type { Pass } from './resolve/pass.ts'
import type { StatusDraft } from './status-draft.ts'

/**
 * A feature of a DynaKube, with everything about it. {@link engineComponents} makes a component of the engine of it.
 *
 * `render` is pure: no client in sight, so that a golden file tests it and a plan prints it.
 */
export interface Component {
  readonly name: string
  /** See `Component.needs` of the runtime; everything but the way to the API needs the tenant as well. */
  readonly needs?: readonly Component[]
  /** Components that come first if they can. */
  readonly after?: readonly Component[]
  /** Its failure is told in its conditions only. @default false */
  readonly isOptional?: boolean
  /** @default always */
  isEnabled?(dynakube: DynaKube): boolean
  /** Every object that this may consist of: they stay as they are while it fails or waits. */
  mayOwn(dynakube: DynaKube): readonly { readonly resource: Resource; readonly name: string }[]
  /** Finds out what rendering needs. Conditions and parts of the status are reported to `pass.draft`. */
  resolve?(pass: Pass, look: Look): Promise<Material | Waiting | undefined> | Material | Waiting | undefined
  /**
   * The objects that should exist.
   *
   * *Errors*: {@link NotYetKnownError} when something is missing that comes with time: the component waits then.
   */
  render(input: RenderInput): readonly DesiredObject[]
  /** Conditions about its objects. */
  conditions?(dynakube: DynaKube): readonly ObjectCondition[]
  /** Takes from the status what it says of a feature that is off. Its conditions go by themselves. */
  disable?(draft: StatusDraft): void
  /** Whether its workload runs. @default it has none */
  isReady?(dynakube: DynaKube, cache: CacheReader): boolean
}

/** What a component sees of the reconcile besides its own pass. */
export interface Look {
  readonly cache: CacheReader
  /** What became of a component that comes before. */
  outcomeOf(component: Component): AnyOutcome<DynaKube> | undefined
}

/** Rendering needs something that is not there yet: the component waits for it. */
export class NotYetKnownError extends Error {
  readonly code = 'NOT_YET_KNOWN'
  override readonly name = 'NotYetKnownError'

  readonly what: string

  constructor(component: string, what: string) {
    super(`${component} waits for ${what}`)
    this.what = what
  }
}

/**
 * The value, when it is there.
 *
 * @example
 * const token = known(material.oneAgentTenantToken, 'OneAgent', 'the token of the tenant')
 */
export function known<T>(value: T | undefined, component: string, what: string): T {
  if (value === undefined || value === '') throw new NotYetKnownError(component, what)
  return value
}
