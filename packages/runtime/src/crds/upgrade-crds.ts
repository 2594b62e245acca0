/**
 * Upgrades the CRDs of an operator when it starts. Helm installs those in the folder `crds` of a chart once and ignores them
 * from then on; see decision 0020.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Clock, sleep, systemClock, untilAborted } from '@reeve/http'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  isConflict,
  isConnectionError,
  isDeadlineExceeded,
  isInvalid,
  isNotFound,
  type JsonPatchOperation,
  type JsonSchemaProps,
  type KubeClient,
  type Stored,
} from '@reeve/kube'
import type { Runnable } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'

/** On a CRD: the version of the operator that wrote it last. */
export const OPERATOR_VERSION = 'reeve.dev/operator-version'

/** Delays between attempts, while the API server or the permissions are missing. */
const RETRY_MS = { first: 500, longest: 10_000 }

/** The dependencies of {@link CrdUpgrade}. */
export interface CrdUpgradeOptions {
  /** The version of the operator, such as `1.4.0`. */
  readonly version: string
  readonly logger?: Logger
  readonly clock?: Clock
}

/**
 * Upgrades CRDs before webhooks and caches start. Needs `get` and `patch` on them.
 *
 * *Guarantees*: a CRD that a newer operator has written is left alone; so is one of which the upgrade would remove a version
 * or a field, unless this operator is newer, and one that still stores a version which this operator does not know. A CRD
 * that does not exist is not created. The CA bundle of a conversion webhook is kept.
 */
export class CrdUpgrade implements Runnable {
  readonly name = 'crd-upgrade'
  readonly needsLeadership = false
  readonly phase = 'servers'
  readonly #client: KubeClient
  readonly #crds: readonly CustomResourceDefinition[]
  readonly #version: string
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #done = Promise.withResolvers<void>()

  constructor(client: KubeClient, crds: readonly CustomResourceDefinition[], options: CrdUpgradeOptions) {
    this.#client = client
    this.#crds = crds
    this.#version = options.version
    this.#logger = options.logger ?? silentLogger
    this.#clock = options.clock ?? systemClock
  }

  whenReady(signal: AbortSignal): Promise<void> {
    return untilAborted(this.#done.promise, signal)
  }

  async run(signal: AbortSignal): Promise<void> {
    for (const crd of this.#crds) await this.#upgrade(crd, signal)
    this.#done.resolve()
  }

  async #upgrade(crd: CustomResourceDefinition, signal: AbortSignal): Promise<void> {
    const logger = this.#logger.child({ crd: crd.metadata.name })
    for (let delayMs = RETRY_MS.first; ; delayMs = Math.min(2 * delayMs, RETRY_MS.longest)) {
      try {
        return await this.#attempt(crd, logger, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (isInvalid(error)) {
          return logger.error({ err: error }, 'the API server rejects the CustomResourceDefinition: it stays as it is')
        }
        // The client reports a server that cannot be reached once, for all its users. A conflict is another replica that was
        // faster.
        const isExpected = isConnectionError(error) || isDeadlineExceeded(error) || isConflict(error)
        logger[isExpected ? 'debug' : 'warn'](
          { err: error },
          'could not upgrade the CustomResourceDefinition; retrying',
        )
        await sleep(delayMs, { clock: this.#clock, signal })
      }
    }
  }

  async #attempt(crd: CustomResourceDefinition, logger: Logger, signal: AbortSignal): Promise<void> {
    const key = { name: crd.metadata.name ?? '' }
    let live: Stored<CustomResourceDefinition>
    try {
      live = await this.#client.get(CustomResourceDefinitions, key, { signal })
    } catch (error) {
      // Not installed on purpose (`helm install --skip-crds`), or deleted: the cache names it when it cannot be listed.
      if (isNotFound(error)) return
      throw error
    }
    const writtenBy = live.metadata.annotations?.[OPERATOR_VERSION]
    const order = compareVersions(this.#version, writtenBy)
    if (order < 0) return logger.info({ writtenBy }, 'a newer operator has written the CustomResourceDefinition')
    const removed = order > 0 ? storedButUnknown(crd, live) : removedBy(crd, live)
    if (removed.length > 0) {
      return logger.warn({ removed, writtenBy }, 'the CustomResourceDefinition has what this operator does not know')
    }
    const patch = patchOf(crd, live, this.#version)
    if (patch.length === 0) return
    await this.#client.patch(CustomResourceDefinitions, key, { type: 'json', patch }, { signal })
    logger.info({ version: this.#version, writtenBy }, 'upgraded the CustomResourceDefinition')
  }
}

/** Positive if `own` is newer than `other`; 0 if they are equal but for a suffix, or not comparable. */
function compareVersions(own: string, other: string | undefined): number {
  const [left, right] = [numbersOf(own), numbersOf(other ?? '')]
  if (left === undefined || right === undefined) return 0
  return left.map((number, index) => number - (right[index] ?? 0)).find((difference) => difference !== 0) ?? 0
}

function numbersOf(version: string): readonly number[] | undefined {
  const [, ...numbers] = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?![\d.])/.exec(version) ?? []
  return numbers.length === 0 ? undefined : numbers.map(Number)
}

/** The API server rejects a CRD without a version in which objects may be stored. */
function storedButUnknown({ spec }: CustomResourceDefinition, { status }: CustomResourceDefinition): readonly string[] {
  const stored = status?.storedVersions ?? []
  return stored.filter((version) => !spec.versions.some(({ name }) => name === version))
}

/** The versions and fields of a live CRD that `own` does not have, such as `v1: spec.color`. */
function removedBy(own: CustomResourceDefinition, live: CustomResourceDefinition): readonly string[] {
  const served = live.spec.versions.filter((version) => version.served)
  const missing = served.filter(({ name }) => !own.spec.versions.some((one) => one.name === name && one.served))
  const fields = live.spec.versions.flatMap(({ name, schema }) => {
    const successor = own.spec.versions.find((version) => version.name === name)
    if (successor === undefined) return []
    const all = removedFields(successor.schema?.openAPIV3Schema ?? {}, schema?.openAPIV3Schema ?? {})
    return all.map((path) => `${name}: ${path.join('.')}`)
  })
  return [...new Set([...missing.map(({ name }) => name), ...storedButUnknown(own, live)]), ...fields]
}

type FieldPath = readonly string[]

function removedFields(own: JsonSchemaProps, live: JsonSchemaProps, at: FieldPath = []): readonly FieldPath[] {
  if (own['x-kubernetes-preserve-unknown-fields'] === true) return []
  const properties = schemaOf(own.properties)
  const named = Object.entries(schemaOf(live.properties)).flatMap(([name, schema]) => {
    const successor = properties[name] ?? own.additionalProperties
    return successor === undefined
      ? [[...at, name]]
      : removedFields(schemaOf(successor), schemaOf(schema), [...at, name])
  })
  const inner = (['items', 'additionalProperties'] as const).flatMap((member) =>
    live[member] === undefined ? [] : removedFields(schemaOf(own[member]), schemaOf(live[member]), [...at, '*']),
  )
  return [...named, ...inner]
}

/** Members of a schema are schemas or booleans. */
function schemaOf(value: unknown): JsonSchemaProps {
  return typeof value === 'object' && value !== null ? (value as JsonSchemaProps) : {}
}

/** Replaces spec and annotation of the CRD that was read; a change since then is a conflict. */
function patchOf(
  own: CustomResourceDefinition,
  { metadata, spec: live }: Stored<CustomResourceDefinition>,
  version: string,
): readonly JsonPatchOperation[] {
  const spec = { ...own.spec, conversion: conversionOf(own.spec, live) }
  const isWritten = metadata.annotations?.[OPERATOR_VERSION] === version
  if (isWritten && isDeepStrictEqual(spec.versions, live.versions) && isContained(spec, live)) return []
  return [
    { op: 'replace', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    { op: 'add', path: '/metadata/annotations', value: { ...metadata.annotations, [OPERATOR_VERSION]: version } },
    { op: 'replace', path: '/spec', value: spec },
  ]
}

type Spec = CustomResourceDefinition['spec']

/** The CA bundle is written by whoever issues the certificate. */
function conversionOf({ conversion = { strategy: 'None' } }: Spec, live: Spec): Spec['conversion'] {
  const caBundle = live.conversion?.webhook?.clientConfig?.caBundle
  const { webhook } = conversion
  if (webhook === undefined || caBundle === undefined) return conversion
  return { ...conversion, webhook: { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } } }
}

/** Whether `live` has all that `own` has: the API server adds defaults. */
function isContained(own: unknown, live: unknown): boolean {
  if (typeof own !== 'object' || own === null || Array.isArray(own)) return isDeepStrictEqual(own, live)
  if (typeof live !== 'object' || live === null) return false
  return Object.entries(own).every(([name, value]) => isContained(value, (live as Record<string, unknown>)[name]))
}
