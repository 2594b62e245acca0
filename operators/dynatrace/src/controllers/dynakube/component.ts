/** A part of what a DynaKube asks for, as a value: which objects it consists of, and what they look like. */
import type { Resource } from '@reeve/kube'
import type { DesiredObject } from '@reeve/runtime'
import type { DynaKube } from '../../api/latest.ts'
import type { RenderInput } from './render-input.ts'

/** Names an object in the namespace of its DynaKube. */
export interface ObjectId {
  readonly resource: Resource
  readonly name: string
}

/**
 * Objects that come, change and go together. Pure: no client in sight, so that a golden file tests it and a plan prints
 * it. A component that is switched off renders nothing, and the engine removes what it had.
 */
export interface Component {
  readonly name: string
  /**
   * Every object that this may consist of, whether or not it is switched on. When something the component needs cannot
   * be found out, these are left as they are instead of being taken for unwanted.
   */
  mayOwn(dynakube: DynaKube): readonly ObjectId[]
  /**
   * Components whose objects its pods read. While one of those fails, the pods are left as they are: told of a new
   * token they must not start with the old one.
   */
  readonly reads?: readonly Component[]
  /**
   * The objects that should exist.
   *
   * *Errors*: {@link NotYetKnownError} when something is missing that comes with time.
   */
  render(input: RenderInput): readonly DesiredObject[]
}

/** A component needs something that is not there yet. It is looked at again when something changes. */
export class NotYetKnownError extends Error {
  readonly code = 'NOT_YET_KNOWN'
  override readonly name = 'NotYetKnownError'

  constructor(component: string, what: string) {
    super(`${component} waits for ${what}`)
  }
}

/**
 * The value, when it is there.
 *
 * @example
 * const token = known(material.oneAgentTenantToken, 'OneAgent', 'the token of the environment')
 */
export function known<T>(value: T | undefined, component: string, what: string): T {
  if (value === undefined || value === '') throw new NotYetKnownError(component, what)
  return value
}
