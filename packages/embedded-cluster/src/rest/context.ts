/** The dependencies shared by all verbs, and the properties of one request. */
import type { AdmissionPlugin } from '../api/admission-plugin.ts'
import type { UserInfo } from '../api/user.ts'
import type { Clock } from '../clock.ts'
import type { JsonObject } from '../json.ts'
import type { KindStrategy, StrategyContext } from '../registry/kind-strategy.ts'
import { apiVersionOf, type ResourceInfo } from '../registry/resource-info.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { ServiceAddresses } from '../registry/service-addresses.ts'
import type { Store } from '../store/store.ts'
import type { ReadForms } from './read-forms.ts'

/** Converts objects of one kind to another of its versions. */
export interface Converter {
  convert(objects: readonly JsonObject[], toApiVersion: string, signal: AbortSignal): Promise<readonly JsonObject[]>
}

/** The parts of the server that verbs use. */
export interface RestContext {
  readonly registry: ResourceRegistry
  readonly store: Store
  readonly clock: Clock
  /** Numbers from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  readonly admission: readonly AdmissionPlugin[]
  readonly converter: Converter
  readonly readForms: ReadForms
  readonly serviceAddresses: ServiceAddresses
  readonly strategyOf: (info: ResourceInfo) => KindStrategy
}

/** One write, from any source. */
export interface WriteRequest {
  readonly info: ResourceInfo
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly user: UserInfo
  readonly dryRun: boolean
  /** The manager of the written fields. */
  readonly fieldManager: string
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, for admission. */
  readonly options: JsonObject
  /** Adds a `Warning` header to the response. */
  readonly warn: (message: string) => void
  readonly signal: AbortSignal
}

/** `object`, stored or new, in the version of `info`. */
export async function toVersion(
  context: RestContext,
  object: JsonObject,
  apiVersion: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (object.apiVersion === apiVersion) return object
  const [converted] = await context.converter.convert([object], apiVersion, signal)
  if (converted === undefined) throw new Error(`conversion to ${apiVersion} returned no object`)
  return converted
}

/** `object` in the version of the request. */
export function toRequestVersion(context: RestContext, request: WriteRequest, object: JsonObject): Promise<JsonObject> {
  return toVersion(context, object, apiVersionOf(request.info), request.signal)
}

/** The dependencies of strategies. */
export function strategyContext(context: RestContext, dryRun: boolean): StrategyContext {
  return {
    clock: context.clock,
    random: context.random,
    serviceAddresses: context.serviceAddresses,
    dryRun,
    get: (resource, namespace, name) =>
      context.store.get(resource, namespace === undefined ? name : `${namespace}/${name}`)?.object,
  }
}
