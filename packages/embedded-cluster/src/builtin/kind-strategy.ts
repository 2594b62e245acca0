/** What a kind does differently from the generic rules: its defaults, its checks and what the server fills in. */
import type { Clock } from '../clock.ts'
import type { JsonObject } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import type { ServiceAddresses } from './service-addresses.ts'

/** What strategies may use. */
export interface StrategyContext {
  readonly clock: Clock
  /** Numbers from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  /** A live object, in its storage version. */
  readonly get: (resource: string, namespace: string | undefined, name: string) => JsonObject | undefined
  readonly serviceAddresses: ServiceAddresses
  readonly dryRun: boolean
}

/**
 * The hooks of one kind, called in this order: `default`, (admission), `prepareForCreate` or `prepareForUpdate`,
 * `validate`. `object` is a private draft in the version of the request and is changed in place; `old` is frozen.
 */
export interface KindStrategy {
  /** Which names are valid. @default 'subdomain' */
  readonly names?: 'subdomain' | 'label' | 'service' | 'path-segment'
  /** Top-level fields whose change increments `metadata.generation`; absent when the kind keeps no generation. */
  readonly generation?: readonly string[]
  /** Whether changed annotations increment `metadata.generation`, too, unless they come with the status. */
  readonly annotationsCount?: boolean
  /** Whether PUT on a missing object creates it. @default false */
  readonly createOnUpdate?: boolean
  /** Whether PUT without a resourceVersion overwrites whatever is there. @default true, false for custom resources */
  readonly unconditionalUpdate?: boolean
  /** Whether DELETE answers with the object instead of a Status. @default false */
  readonly returnsDeletedObject?: boolean
  /** Whether a status sent with POST is kept although the kind has a status subresource. @default false */
  readonly keepsStatusOnCreate?: boolean
  /** An object in which nothing is set: what a create is compared with, to find the fields that its client owns. */
  empty?(): JsonObject
  /** Fills fields that the client left out, those of the status excepted. */
  default?(object: JsonObject): void
  /** Fills fields of the status. */
  defaultStatus?(status: JsonObject): void
  prepareForCreate?(object: JsonObject, context: StrategyContext): void
  prepareForUpdate?(object: JsonObject, old: JsonObject, context: StrategyContext): void
  /**
   * The object as it goes into its deletion, such as with a finalizer that holds it; called before finalizers are
   * looked at, on the first request to delete only. Unlike the other hooks it must not change `object` in place.
   */
  prepareForDelete?(object: JsonObject, context: StrategyContext): JsonObject
  /** Problems of `object`; `old` is absent on create. */
  validate?(object: JsonObject, old: JsonObject | undefined): readonly FieldError[]
  /** Problems of a status that is written by its subresource. */
  validateStatus?(object: JsonObject, old: JsonObject): readonly FieldError[]
  /** Advice about an object that is accepted, for `Warning` headers; `old` is absent on create. */
  warnings?(object: JsonObject, old: JsonObject | undefined): readonly string[]
  /** Seconds an object is given to end by itself; absent or 0 deletes at once. */
  gracePeriodSeconds?(object: JsonObject, requested: number | undefined): number
  /** Gives back what `prepareForCreate` took, once the object is gone. */
  release?(object: JsonObject, context: StrategyContext): void
}
