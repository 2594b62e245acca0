/** Serves the resources of CustomResourceDefinitions: registers them, reports status, and cleans up after deletion. */
import type { AdmissionPlugin } from '../api/admission-plugin.ts'
import { forbidden, invalid } from '../api/api-errors.ts'
import type { ClusterApi, ClusterController, ClusterEvent } from '../api/cluster-api.ts'
import type { Clock, Timer } from '../clock.ts'
import { arrayAt, type JsonObject, jsonEqual, objectAt } from '../json.ts'
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { StatusError } from '../status-error.ts'
import { decideNames, type NameDecision, writeNames } from './accepted-names.ts'
import {
  CLEANUP_FINALIZER,
  DEFINITIONS,
  type Definition,
  type DefinitionNames,
  readDefinition,
  readNames,
} from './definition.ts'
import { definitionStatus } from './definition-status.ts'
import { resourceInfos } from './resource-infos.ts'
import { hasRules, loadedRuleEngine, loadRuleEngine, type RuleEngine } from './rules.ts'
import { isEstablished, validateRules } from './validate-definition.ts'

/** Dependencies of {@link CustomResources}. */
export interface CustomResourcesOptions {
  readonly api: ClusterApi
  readonly registry: ResourceRegistry
  readonly clock: Clock
  /** Called with failures that are retried. @default failures are not reported */
  readonly onError?: (error: unknown, definition: string) => void
}

interface KnownDefinition {
  readonly definition: Definition
  readonly decision: NameDecision
  /** The registered names; absent when the definition is not registered. */
  readonly spec: JsonObject | undefined
}

const FIRST_RETRY_MS = 1000
const MAX_RETRY_MS = 30_000

/**
 * The controller of CustomResourceDefinitions.
 *
 * *Guarantees*: a resource is served from the moment its definition is stored (if its names are available), before the
 * write that created it resolves; its status is written later. A deleted definition stays until its last instance is
 * deleted.
 *
 * @example
 * const customResources = new CustomResources({ api, registry, clock })
 * customResources.start()
 */
export class CustomResources implements ClusterController {
  readonly name = 'custom-resources'
  readonly #api: ClusterApi
  readonly #registry: ResourceRegistry
  readonly #clock: Clock
  readonly #onError: (error: unknown, definition: string) => void
  /** Keyed by the definition's name, which is also the name of its resource. */
  readonly #definitions = new Map<string, KnownDefinition>()
  readonly #dirty = new Set<string>()
  readonly #retries = new Map<string, { attempts: number; timer: Timer | undefined }>()
  #engine: RuleEngine | undefined = loadedRuleEngine()
  /** Resolves when every definition that waited for the engine is registered. */
  #loading: Promise<void> = Promise.resolve()
  #working: Promise<void> | undefined
  #unsubscribe: (() => void) | undefined

  constructor(options: CustomResourcesOptions) {
    this.#api = options.api
    this.#registry = options.registry
    this.#clock = options.clock
    this.#onError = options.onError ?? (() => undefined)
  }

  /** Rejects new instances of a definition that is being deleted, and warns about finalizers that may clash. */
  readonly admission: AdmissionPlugin = {
    name: 'CustomResources',
    mutate: (attributes) => {
      const { resource, operation, object } = attributes
      if (operation === 'CREATE' && resource.custom && this.definitionOf(resource)?.isDeleting === true) {
        const why = 'create not allowed while custom resource definition is terminating'
        throw forbidden(resource, attributes.name ?? '', why)
      }
      return object
    },
    validate: ({ resource, object, oldObject, warn }) => {
      if (object === undefined) return undefined
      if (groupResource(resource) === DEFINITIONS) return this.#checkRules(resource, object)
      if (!resource.custom) return undefined
      const before = finalizersOf(oldObject)
      for (const finalizer of finalizersOf(object)) {
        if (finalizer.includes('/') || standardFinalizers.has(finalizer) || before.includes(finalizer)) continue
        const path = finalizer.includes('.') ? ' including a path (/)' : ''
        warn(
          `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
        )
      }
      return undefined
    },
  }

  start(): void {
    if (this.#unsubscribe !== undefined) return
    this.#unsubscribe = this.#api.subscribe((event) => this.#observe(event))
    const stored = this.#api.list(DEFINITIONS)
    // Names that were accepted before a restart stay with their definition, whatever the order of the list.
    for (const crd of stored) this.#track(crd)
    for (const crd of stored) this.#register(crd)
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#dirty.clear()
    for (const retry of this.#retries.values()) retry.timer?.cancel()
    this.#retries.clear()
    await this.#loading
    await this.#working
  }

  /** Resolves when there is currently nothing to write. */
  async idle(): Promise<void> {
    await this.#loading
    while (this.#working !== undefined) await this.#working
  }

  /** The definition of a custom resource. */
  definitionOf(of: { readonly group: string; readonly plural: string }): Definition | undefined {
    return this.#definitions.get(groupResource(of))?.definition
  }

  /** The definition of objects of a kind. */
  definitionOfKind(group: string, kind: string): Definition | undefined {
    for (const { definition, decision } of this.#definitions.values()) {
      if (definition.group === group && decision.accepted.kind === kind) return definition
    }
    return undefined
  }

  async #checkRules(resource: ResourceInfo, crd: JsonObject): Promise<void> {
    const definition = readDefinition(crd)
    if (!definition.versions.some(({ schema }) => hasRules(schema))) return
    this.#engine ??= await loadRuleEngine()
    const errors = validateRules(definition, this.#engine)
    if (errors.length > 0) throw invalid(resource, definition.name, errors)
  }

  /** After a restart, a definition with rules waits for the rule engine, and is registered then in its latest state. */
  async #registerWithRules(name: string): Promise<void> {
    try {
      this.#engine ??= await loadRuleEngine()
    } catch (error) {
      return this.#onError(error, name)
    }
    const crd = this.#api.get(DEFINITIONS, undefined, name)
    if (crd !== undefined && this.#unsubscribe !== undefined) this.#register(crd)
  }

  #observe(event: ClusterEvent): void {
    if (event.resource !== DEFINITIONS) {
      // The deleted object may have been the last instance of a definition that is being deleted.
      if (event.type === 'DELETED' && this.#definitions.get(event.resource)?.definition.isDeleting === true) {
        this.#enqueue(event.resource)
      }
      return
    }
    if (event.type === 'DELETED') this.#unregister(readDefinition(event.object))
    else this.#register(event.object)
  }

  #track(crd: JsonObject): void {
    const definition = readDefinition(crd)
    const accepted = readNames(objectAt(objectAt(crd, 'status'), 'acceptedNames'))
    this.#definitions.set(definition.name, { definition, decision: { accepted, conflict: undefined }, spec: undefined })
  }

  #register(crd: JsonObject): void {
    const definition = readDefinition(crd)
    const { name, group } = definition
    if (!this.#definitions.has(name)) this.#track(crd)
    if (this.#engine === undefined && definition.versions.some(({ schema }) => hasRules(schema))) {
      this.#loading = this.#loading.then(() => this.#registerWithRules(name))
      return
    }
    const known = this.#definitions.get(name)
    const held = known?.decision.accepted ?? definition.names
    const decision = decideNames(definition.names, held, this.#namesOfOthers(group, name))
    const spec = objectAt(crd, 'spec')
    const isServed = decision.conflict === undefined || isEstablished(crd)
    const isUnchanged = known?.spec !== undefined && jsonEqual(known.spec, spec)
    // Registering again without a change would make every client read discovery again.
    if (isServed && !(isUnchanged && jsonEqual(writeNames(held), writeNames(decision.accepted)))) {
      this.#registry.replace(name, resourceInfos(definition, decision.accepted, this.#engine))
    }
    this.#definitions.set(name, { definition, decision, spec: isServed ? spec : undefined })
    this.#enqueue(name)
  }

  #unregister(definition: Definition): void {
    const { name, group } = definition
    this.#definitions.delete(name)
    this.#forgetRetry(name)
    this.#dirty.delete(name)
    this.#registry.remove(name)
    // Its names are available again for definitions that wait for them.
    for (const other of [...this.#definitions.values()]) {
      if (other.definition.group !== group || other.decision.conflict === undefined) continue
      const crd = this.#api.get(DEFINITIONS, undefined, other.definition.name)
      if (crd !== undefined) this.#register(crd)
    }
  }

  #namesOfOthers(group: string, name: string): DefinitionNames[] {
    return [...this.#definitions.values()]
      .filter(({ definition }) => definition.group === group && definition.name !== name)
      .map(({ decision }) => decision.accepted)
  }

  #enqueue(name: string): void {
    if (this.#unsubscribe === undefined) return
    this.#dirty.add(name)
    this.#working ??= this.#processQueue()
  }

  async #processQueue(): Promise<void> {
    // Not during the commit that is being announced.
    await Promise.resolve()
    for (const name of this.#dirty) {
      this.#dirty.delete(name)
      try {
        await this.#reconcile(name)
        this.#forgetRetry(name)
      } catch (error) {
        this.#retryLater(name, error)
      }
    }
    this.#working = undefined
  }

  async #reconcile(name: string): Promise<void> {
    const known = this.#definitions.get(name)
    const crd = this.#api.get(DEFINITIONS, undefined, name)
    if (known === undefined || crd === undefined) return
    const status = definitionStatus(crd, known.decision, this.#clock.now())
    let current = crd
    if (!jsonEqual(status, objectAt(crd, 'status'))) {
      current = await this.#api.update(DEFINITIONS, { ...crd, status }, { subresource: 'status' })
    }
    if (known.definition.isDeleting) await this.#cleanUp(name, current)
  }

  /** Deletes the instances; removes the finalizer once none is left. */
  async #cleanUp(name: string, crd: JsonObject): Promise<void> {
    const metadata = objectAt(crd, 'metadata')
    const finalizers = arrayAt(metadata, 'finalizers')
    if (!finalizers.includes(CLEANUP_FINALIZER)) return
    const isServed = this.#registry.versionsOf(name).length > 0
    for (const instance of isServed ? this.#api.list(name) : []) {
      const { namespace, name: instanceName, deletionTimestamp } = objectAt(instance, 'metadata')
      if (deletionTimestamp !== undefined) continue
      const scope = typeof namespace === 'string' ? namespace : undefined
      await ignoreNotFound(this.#api.delete(name, scope, String(instanceName)))
    }
    if (isServed && this.#api.list(name).length > 0) return
    const latest = this.#api.get(DEFINITIONS, undefined, name) ?? crd
    const rest = arrayAt(objectAt(latest, 'metadata'), 'finalizers').filter((known) => known !== CLEANUP_FINALIZER)
    await ignoreNotFound(
      this.#api.update(DEFINITIONS, { ...latest, metadata: { ...objectAt(latest, 'metadata'), finalizers: rest } }),
    )
  }

  #retryLater(name: string, error: unknown): void {
    // A conflict: the newer state will be observed and reconciled.
    const isRace = error instanceof StatusError && (error.code === 409 || error.code === 404)
    if (!isRace) this.#onError(error, name)
    if (this.#unsubscribe === undefined) return
    const attempts = (this.#retries.get(name)?.attempts ?? 0) + 1
    this.#forgetRetry(name)
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), MAX_RETRY_MS)
    if (isRace && attempts === 1) {
      this.#retries.set(name, { attempts, timer: undefined })
      this.#dirty.add(name)
      return
    }
    this.#retries.set(name, { attempts, timer: this.#clock.schedule(delayMs, () => this.#enqueue(name)) })
  }

  #forgetRetry(name: string): void {
    this.#retries.get(name)?.timer?.cancel()
    this.#retries.delete(name)
  }
}

const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

function finalizersOf(object: JsonObject | undefined): readonly string[] {
  return arrayAt(objectAt(object, 'metadata'), 'finalizers').map(String)
}

async function ignoreNotFound(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 404) throw error
  }
}
