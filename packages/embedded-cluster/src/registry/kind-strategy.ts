/** What differs between kinds: defaults, validation and the fields that the server sets. */
import type { Clock } from '../clock.ts'
import type { JsonObject } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import type { ServiceAddresses } from './service-addresses.ts'

/** Dependencies of strategies. */
export interface StrategyContext {
  readonly clock: Clock
  /** Numbers from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  /** Returns a live object, in its storage version. */
  readonly get: (resource: string, namespace: string | undefined, name: string) => JsonObject | undefined
  readonly serviceAddresses: ServiceAddresses
  readonly dryRun: boolean
}

/**
 * The hooks of one kind, called in this order: `default`, (admission), `prepareForCreate` or `prepareForUpdate`,
 * `validate`. `object` is a private draft in the version of the request and is modified in place; `old` is frozen.
 */
export interface KindStrategy {
  /** The format of valid names. @default 'subdomain' */
  readonly names?: 'subdomain' | 'label' | 'service' | 'path-segment'
  /** Top-level fields whose change increments `metadata.generation`; absent when the kind keeps no generation. */
  readonly generation?: readonly string[]
  /** Whether changed annotations also increment `metadata.generation`, unless they are written with the status. */
  readonly annotationsCount?: boolean
  /** Whether PUT on a missing object creates it. @default false */
  readonly createOnUpdate?: boolean
  /** Whether PUT without a resourceVersion overwrites the stored object. @default true, false for custom resources */
  readonly unconditionalUpdate?: boolean
  /** Whether DELETE returns the object instead of a Status. @default false */
  readonly returnsDeletedObject?: boolean
  /** Whether a status sent with POST is kept although the kind has a status subresource. @default false */
  readonly keepsStatusOnCreate?: boolean
  /** The initial object: a create is compared with it to find the fields that its client owns. */
  empty?(): JsonObject
  /** Sets defaults for fields that the client omitted, except in the status. */
  default?(object: JsonObject): void
  /** Sets defaults in the status. */
  defaultStatus?(status: JsonObject): void
  prepareForCreate?(object: JsonObject, context: StrategyContext): void
  prepareForUpdate?(object: JsonObject, old: JsonObject, context: StrategyContext): void
  /**
   * Returns the object at the start of its deletion, for example with a finalizer; called on the first request to
   * delete only, before finalizers are checked. Unlike the other hooks it must not modify `object` in place.
   */
  prepareForDelete?(object: JsonObject, context: StrategyContext): JsonObject
  /** Validates `object`; `old` is absent on create. */
  validate?(object: JsonObject, old: JsonObject | undefined): readonly FieldError[]
  /** Validates a status that is written through its subresource. */
  validateStatus?(object: JsonObject, old: JsonObject): readonly FieldError[]
  /** Warnings about a valid object, for `Warning` headers; `old` is absent on create. */
  warnings?(object: JsonObject, old: JsonObject | undefined): readonly string[]
  /** The grace period of an object; absent or 0 deletes immediately. */
  gracePeriodSeconds?(object: JsonObject, requested: number | undefined): number
  /** Releases what `prepareForCreate` allocated, once the object is deleted. */
  release?(object: JsonObject, context: StrategyContext): void
}
