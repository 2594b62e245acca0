/** What happens to one DynaKube: observe → resolve → render → apply → report. */
import { randomBytes } from 'node:crypto'
import type { Stored } from '@reeve/kube'
import {
  type Change,
  formatTime,
  isJsonEqual,
  type Reconcile,
  type ReconcileRequest,
  type ReconcileResult,
  StaleViewError,
  writeStatus,
} from '@reeve/runtime'
import { hasActiveGate } from '../../api/dynakube/active-gate-facts.ts'
import { changesPods } from '../../api/dynakube/namespace-claims.ts'
import { IgnoredNamespacePatterns } from '../../api/ignored-namespaces.ts'
import { type DynaKube, type DynaKubeStatus, DynaKubes } from '../../api/latest.ts'
import {
  createEnvironmentClient,
  type EnvironmentClient,
  type EnvironmentClientOptions,
} from '../../environment/client/environment-client.ts'
import { EnvironmentApiError, isEnvironmentUnavailable } from '../../environment/client/errors.ts'
import { withTemplateHash } from '../template-hash.ts'
import { type Applied, DynaKubeApplier, FIELD_MANAGER } from './apply.ts'
import { type Component, NotYetKnownError } from './component.ts'
import { activeGateService } from './components/active-gate/service.ts'
import { exporters } from './components/injection/exporter-secrets.ts'
import { injection } from './components/injection/source-secrets.ts'
import { hasIstio, istioForApi, istioForCodeModules } from './components/istio/istio.ts'
import { environmentConnection } from './environment-connection.ts'
import { reportIgnoredNamespaces, reportInjection } from './injection/injection-conditions.ts'
import { labelNamespaces, releaseNamespaces, replicate } from './injection/namespaces.ts'
import { reportInstances } from './instances.ts'
import { type Mesh, MeshReader } from './mesh.ts'
import { NamespaceView } from './namespace-view.ts'
import { reportObjects } from './object-conditions.ts'
import { phaseOf } from './phase.ts'
import { type Rendered, renderDynaKube } from './render.ts'
import type { Material, OperatorFacts } from './render-input.ts'
import { NoCommunicationHostsError } from './resolve/connection-info.ts'
import { LimitedCertificates } from './resolve/limited-certificates.ts'
import type { ClusterPass, Pass } from './resolve/pass.ts'
import { resolveProxy, resolveTrustedCertificates } from './resolve/referenced.ts'
import { type Resolved, resolveAddresses, resolveAll } from './resolve/resolve.ts'
import { selfSigned } from './resolve/self-signed.ts'
import type { ScopeSettings } from './resolve/token-scopes.ts'
import { readTokens, reportTokenError, type Tokens, verifyTokens } from './resolve/tokens.ts'
import { StatusDraft } from './status-draft.ts'

/** When a DynaKube is looked at again although nothing happened. */
export const REQUEUE = Object.freeze({ unchangedMs: 30 * 60_000, changedMs: 5 * 60_000, soonMs: 60_000 })

/** Applying may reveal what rendering waited for, such as the address of a Service. It does so once or twice. */
const MAX_ROUNDS = 3

/** What reconciling DynaKubes needs besides the cluster. */
export interface DynaKubeOptions extends ScopeSettings {
  readonly operator: OperatorFacts
  /** Identifies the cluster: the UID of its namespace kube-system. */
  readonly clusterId: string
  /** How often agents are listed in the status. @default 5 min */
  readonly instancesIntervalMs?: number
  /** @default a client with its own connections */
  readonly connect?: (options: EnvironmentClientOptions) => EnvironmentClient
  /** @default the machine's */
  readonly randomBytes?: ClusterPass['randomBytes']
  /** Makes certificates; a plan has no use for a key that takes a second. @default `selfSigned` */
  readonly selfSigned?: ClusterPass['selfSigned']
  /** Shared with whoever else asks about the same DynaKubes. @default its own */
  readonly ignoredNamespaces?: IgnoredNamespacePatterns
}

/**
 * The reconcile function of DynaKubes.
 *
 * *Guarantees*: may be cut after any write and run again; an unchanged DynaKube in an unchanged environment costs no
 * request to the cluster, but for two lists when it asks for Istio, and none to the environment within the request
 * threshold.
 *
 * @example
 * controller({ name: 'dynakube', for: DynaKubes, owns: OWNED, reconcile: dynaKubeReconcile({ operator, clusterId }) })
 */
export function dynaKubeReconcile(options: DynaKubeOptions): Reconcile<DynaKube> {
  const writers = {
    applier: new DynaKubeApplier(),
    meshes: new MeshReader(),
    certificates: new LimitedCertificates(options.selfSigned ?? selfSigned),
    ignoredNamespaces: options.ignoredNamespaces ?? new IgnoredNamespacePatterns(),
  }
  return async (request) => {
    const { object } = request
    if (object === undefined) {
      writers.meshes.forget(request.key)
      // What it owned goes by itself; what it left in other namespaces does not.
      await releaseNamespaces(request.key.name, request)
      return {}
    }
    if (object.metadata.deletionTimestamp !== undefined) return {}
    return new DynaKubePass(options, writers, request, object).run()
  }
}

/** What outlives a pass. */
interface Writers {
  readonly applier: DynaKubeApplier
  readonly meshes: MeshReader
  readonly certificates: LimitedCertificates
  readonly ignoredNamespaces: IgnoredNamespacePatterns
}

/** One look at one DynaKube. */
class DynaKubePass {
  readonly #options: DynaKubeOptions
  readonly #writers: Writers
  readonly #request: ReconcileRequest<DynaKube>
  readonly #object: Stored<DynaKube>
  readonly #pass: ClusterPass

  constructor(
    options: DynaKubeOptions,
    writers: Writers,
    request: ReconcileRequest<DynaKube>,
    object: Stored<DynaKube>,
  ) {
    const { cache, clock, logger, signal } = request
    this.#options = options
    this.#writers = writers
    this.#request = request
    this.#object = object
    this.#pass = {
      draft: new StatusDraft(object, clock),
      view: new NamespaceView(cache, object.metadata.namespace ?? ''),
      operator: options.operator,
      clock,
      logger,
      signal,
      randomBytes: options.randomBytes ?? randomBytes,
      selfSigned: (subject, now) => writers.certificates.make(subject, now, signal),
    }
  }

  async run(): Promise<ReconcileResult> {
    const failures: Error[] = []
    let isWaiting = false
    reportIgnoredNamespaces(this.#pass.draft, this.#writers.ignoredNamespaces)
    try {
      const outcome = await this.#work()
      failures.push(...outcome.failures)
      isWaiting = outcome.isWaiting
    } catch (error) {
      this.#request.signal.throwIfAborted()
      if (!(error instanceof Error) || error instanceof StaleViewError) throw error
      failures.push(error)
    }
    // The environment will be back, and what was found out half is not worth a write. What failed before counts more.
    if (isEnvironmentUnavailable(failures.find(isRefusal))) return { requeueAfterMs: REQUEUE.soonMs }
    return this.#request.stage('report', () => this.#report(failures, isWaiting))
  }

  async #work(): Promise<{ readonly failures: readonly Error[]; readonly isWaiting: boolean }> {
    const { draft } = this.#pass
    const mesh = await this.#request.stage('mesh', () => this.#openMesh())
    const known = await this.#request.stage('observe', () => this.#observe())
    const connect = this.#options.connect ?? createEnvironmentClient
    await using environment = await this.#checked(async () => connect(known.connection))
    const pass: Pass = { ...this.#pass, environment }
    await this.#checked(() => verifyTokens(pass, known.tokens, this.#options))
    draft.update({ kubeSystemUUID: this.#options.clusterId })
    const resolved = await this.#request.stage('resolve', () => resolveAll(pass, known.material))
    const { rendered, applied } = await this.#settle(pass, resolved, mesh)
    reportObjects(draft, rendered, applied)
    const injected = await this.#request.stage('inject', () => this.#inject(rendered))
    reportInstances(pass, this.#request.cache, this.#options.instancesIntervalMs ?? 5 * 60_000)
    const heldBack = new Set<Error>(resolved.held.values())
    const unrendered = rendered.flatMap(({ failure }) =>
      failure === undefined || heldBack.has(failure) || failure instanceof NotYetKnownError ? [] : [failure],
    )
    return {
      failures: [...resolved.failures, ...unrendered, ...this.#grave(applied), ...applied.leftovers, ...injected],
      isWaiting: [...heldBack].some((reason) => reason instanceof NoCommunicationHostsError),
    }
  }

  /** Opens the way to the API: in a mesh that lets nothing out, the first call would fail without it. */
  async #openMesh(): Promise<Mesh | undefined> {
    const { applier, meshes } = this.#writers
    const { client, cache, signal } = this.#request
    const mesh = await meshes.read(this.#object, this.#request)
    if (mesh !== undefined) {
      const { draft, operator } = this.#pass
      const objects = istioForApi.render({ dynakube: draft.dynakube, operator, material: {} }).map(withTemplateHash)
      await applier.bring(this.#object, objects, { client, cache, mesh, signal })
    }
    return mesh
  }

  /** Failures of writing that make the whole pass one. Code modules may find a way out that others made. */
  #grave({ failures }: Applied): readonly Error[] {
    const minor = failures.get(istioForCodeModules)?.error
    if (minor !== undefined) this.#request.logger.warn({ err: minor }, 'code modules have no way out of the mesh')
    return [...failures.values()].map(({ error }) => error).filter((error) => error !== minor)
  }

  /** Reads what the DynaKube refers to; without it nothing else makes sense. */
  async #observe(): Promise<{ tokens: Tokens; material: Material; connection: EnvironmentClientOptions }> {
    const { draft, view } = this.#pass
    const { dynakube } = draft
    return this.#checked(async () => {
      const tokens = readTokens(dynakube, view)
      const material = {
        ...tokens,
        ...(await resolveProxy(this.#pass)),
        ...resolveTrustedCertificates(dynakube, view),
      }
      return { tokens, material, connection: environmentConnection(dynakube, tokens, material, this.#request) }
    })
  }

  /** Whatever is wrong before the environment can be asked is told in the condition of the tokens. */
  async #checked<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      this.#request.signal.throwIfAborted()
      if (error instanceof Error && !isEnvironmentUnavailable(error)) reportTokenError(this.#pass, error)
      throw error
    }
  }

  /** Renders and applies until applying reveals nothing more that rendering waits for. */
  async #settle(
    pass: Pass,
    { material, held }: Resolved,
    mesh: Mesh | undefined,
  ): Promise<{ rendered: readonly Rendered[]; applied: Applied }> {
    const changes: Change[] = []
    for (let round = 1; ; round += 1) {
      const addresses = await resolveAddresses(pass)
      const input = { dynakube: pass.draft.dynakube, operator: pass.operator, material: { ...material, ...addresses } }
      // Agents name the gateways: without this they would start twice on the day they are installed.
      const isFirst = round === 1 && isAddressMissing(input.dynakube)
      const waits = (component: Component) =>
        isFirst && component !== activeGateService
          ? new NotYetKnownError(component.name, 'the address of gateways')
          : undefined
      const rendered = renderDynaKube(input, (component) => held.get(component) ?? waits(component))
      const { client, cache, signal } = this.#request
      const applied = await this.#request.stage('apply', () =>
        this.#writers.applier.apply(this.#object, rendered, { client, cache, mesh, signal }),
      )
      changes.push(...applied.changes)
      const isWaiting = rendered.some(({ failure }) => failure instanceof NotYetKnownError)
      if (isFirst) continue
      if (!isWaiting || applied.changes.length === 0 || round === MAX_ROUNDS) {
        // Pruned by now.
        if (mesh !== undefined && !hasIstio(this.#object)) this.#writers.meshes.finish(this.#object)
        return { rendered, applied: { ...applied, changes } }
      }
    }
  }

  /** Labels namespaces and fills them; answers with what went wrong. */
  async #inject(rendered: readonly Rendered[]): Promise<readonly Error[]> {
    const { dynakube } = this.#pass.draft
    const parts = rendered.filter(({ component }) => component === injection || component === exporters)
    const unknown = parts.filter(({ failure }) => failure !== undefined).map(({ component }) => component)
    const failures: Error[] = []
    const attempt = async (change: Promise<void>) => {
      await change.catch((error) => failures.push(error))
      this.#request.signal.throwIfAborted()
    }
    if (!changesPods(dynakube)) await attempt(releaseNamespaces(this.#request.key.name, this.#request))
    // While it is not known what pods get, no further namespace is promised anything.
    else if (!unknown.includes(injection)) {
      await attempt(labelNamespaces(dynakube, this.#writers.ignoredNamespaces, this.#request))
      const sources = parts.flatMap(({ objects }) => objects)
      const left = unknown.flatMap((component) => component.mayOwn(dynakube).map(({ name }) => name))
      failures.push(...(await replicate(dynakube, sources, left, this.#request)))
    }
    reportInjection(this.#pass.draft, { failures, unknown }, this.#request.cache)
    return failures
  }

  async #report(failures: readonly Error[], isWaiting: boolean): Promise<ReconcileResult> {
    const { draft } = this.#pass
    const { cache, clock } = this.#request
    const phase = failures.length > 0 ? 'Error' : phaseOf(draft.dynakube, cache)
    draft.update({ phase })
    const isChanged = !isJsonEqual(this.#object.status ?? {}, draft.status)
    if (isChanged) await this.#write({ ...draft.status, updatedTimestamp: formatTime(clock.now()) })
    if (failures.length > 0) throw asOne(failures)
    if (isWaiting) return { requeueAfterMs: REQUEUE.soonMs }
    return { requeueAfterMs: isChanged ? REQUEUE.changedMs : REQUEUE.unchangedMs }
  }

  /**
   * Writes the status. What was found out is kept although somebody edited the DynaKube meanwhile: otherwise the
   * environment would be asked for everything again after each edit.
   */
  async #write(status: DynaKubeStatus): Promise<void> {
    const { client, key, signal } = this.#request
    const options = { signal, fieldManager: FIELD_MANAGER }
    try {
      await writeStatus(client, DynaKubes, this.#object, status, options)
    } catch (error) {
      if (!(error instanceof StaleViewError)) throw error
      const latest = await client.get(DynaKubes, key, { signal })
      const isSame = latest.metadata.uid === this.#object.metadata.uid
      if (!isSame || !isJsonEqual(latest.status ?? {}, this.#object.status ?? {})) throw error
      await writeStatus(client, DynaKubes, latest, status, options)
    }
  }
}

/** Whether the Service of gateways is yet to be made, or to be given an address. */
function isAddressMissing(dynakube: DynaKube): boolean {
  return hasActiveGate(dynakube) && (dynakube.status?.activeGate?.serviceIPs ?? []).length === 0
}

/** The environment answered, and said no. Where callers never told one refusal from another, it is a plain failure. */
const isRefusal = (error: Error): boolean => error instanceof EnvironmentApiError && error.countsAsUnavailable

/** One error that keeps all others. What several parts suffer from is told once. */
function asOne(failures: readonly Error[]): Error {
  const distinct = [...new Set(failures)]
  const [first] = distinct
  if (first !== undefined && distinct.length === 1) return first
  return new AggregateError(distinct, distinct.map(({ message }) => message).join('; '))
}
