/** Whether the installed CRDs are those of this operator: Helm does not upgrade CRDs. */
import type { Clock } from '@reeve/http'
import { CustomResourceDefinitions, type KubeClient, type KubeObject } from '@reeve/kube'
import type { ReconcileRequest } from '@reeve/runtime/controller'
import type { EventRecorder } from '@reeve/runtime/events'

/** The label of CRDs that says which release they came with. */
export const CRD_VERSION_LABEL = 'app.kubernetes.io/version'

/** The reason of the event about CRDs of another release. */
const CRD_VERSION_MISMATCH = 'CRDVersionMismatch'

/** How long a version that was read is cached: CRDs rarely change without the operator. */
const BELIEVED_MS = 5 * 60_000

/** The version of the CRD, or that of the operator, is unknown. */
export class CrdVersionError extends Error {
  readonly code = 'CRD_VERSION_UNKNOWN'
  override readonly name = 'CrdVersionError'
}

/**
 * The message about the version of a CRD; `undefined` when it is as expected.
 *
 * *Errors*: {@link CrdVersionError} when one of both is not known.
 *
 * @example
 * compareCrdVersions('dynakubes.dynatrace.com', '1.8.0', '1.8.1') // 'CustomResourceDefinition … is of 1.8.0, …'
 */
export function compareCrdVersions(
  name: string,
  installed: string | undefined,
  expected: string | undefined,
): string | undefined {
  if (!expected) throw new CrdVersionError('APP_VERSION is not set: set it to the release of this operator')
  if (!installed) {
    throw new CrdVersionError(
      `CustomResourceDefinition ${name} has no label ${CRD_VERSION_LABEL}; install the CRDs of ${expected}`,
    )
  }
  if (installed === expected) return undefined
  return `CustomResourceDefinition ${name} is of ${installed}, this operator of ${expected}; install the CRDs of ${expected}`
}

/** What a check works with. */
export interface CrdVersionCheckOptions {
  /** Such as `dynakubes.dynatrace.com`. */
  readonly crd: string
  /** The release of this operator: APP_VERSION. */
  readonly version: string | undefined
}

/** Checks before each reconcile, at the cost of a request every few minutes. */
export class CrdVersionCheck {
  readonly #options: CrdVersionCheckOptions
  #read: { readonly version: string | undefined; readonly atMs: number } | undefined

  constructor(options: CrdVersionCheckOptions) {
    this.#options = options
  }

  /**
   * Reports CRDs of another release as an event on `object`, and continues the reconcile.
   *
   * *Errors*: {@link CrdVersionError} when versions cannot be compared; the reconcile has to end with it.
   *
   * @example
   * const check = new CrdVersionCheck({ crd: DynaKubeCrd.name, version: env.APP_VERSION })
   * await check.run(request.object, request)
   */
  async run(
    object: KubeObject,
    request: {
      readonly client: KubeClient
      readonly clock: Clock
      readonly events: EventRecorder
      readonly signal: AbortSignal
    },
  ): Promise<void> {
    const { crd, version } = this.#options
    const message = compareCrdVersions(crd, await this.#installed(request), version)
    if (message !== undefined) request.events.record(object, { type: 'Warning', reason: CRD_VERSION_MISMATCH, message })
  }

  async #installed({
    client,
    clock,
    signal,
  }: {
    readonly client: KubeClient
    readonly clock: Clock
    readonly signal: AbortSignal
  }): Promise<string | undefined> {
    if (this.#read !== undefined && clock.now() - this.#read.atMs < BELIEVED_MS) return this.#read.version
    const name = this.#options.crd
    try {
      const { metadata } = await client.get(CustomResourceDefinitions, { name }, { signal, metadataOnly: true })
      const version = metadata.labels?.[CRD_VERSION_LABEL]
      // A missing label is not cached: the user should add it.
      if (version) this.#read = { version, atMs: clock.now() }
      return version
    } catch (cause) {
      signal.throwIfAborted()
      throw new CrdVersionError(`CustomResourceDefinition ${name} cannot be read; install it, or grant get`, { cause })
    }
  }
}

/** What the controllers of both resources have in common. */
export interface ControllerScope {
  /** The namespace of the operator; resources elsewhere are ignored. @default all namespaces, as plans need it */
  readonly namespace?: string
  /** The release that the CRDs have to come with. @default CRDs of any release will do */
  readonly release?: { readonly version: string | undefined } | undefined
  /** Everything outside the cluster is only read, so that a plan may run the controller. @default false */
  readonly isRehearsal?: boolean
}

/**
 * The check of a controller's CRD before each of its reconciles.
 *
 * @example
 * defineOperator({ name, controllers: [{ for: DynaKubes, ...crdVersionCheck(DynaKubeCrd.name, { version }) }] })
 */
export function crdVersionCheck(
  crd: string,
  release: ControllerScope['release'],
): { before?(request: ReconcileRequest<KubeObject>): Promise<void> } {
  if (release === undefined) return {}
  const check = new CrdVersionCheck({ crd, ...release })
  return { before: async (request) => request.object && check.run(request.object, request) }
}
