/** Starts a cluster: an API server, the controllers beside it and, if wanted, a TLS front; one life for all. */
import { writeFile } from 'node:fs/promises'
import { CertificateAuthority } from './auth/certificates.ts'
import { ensureDefaultRoles } from './auth/default-roles.ts'
import { ensureSystemObjects } from './bootstrap.ts'
import type { EmbeddedClusterOptions } from './cluster-options.ts'
import { createControllers } from './controllers/index.ts'
import type { SimulatorController } from './controllers/simulator-controller.ts'
import { DEFAULT_HOST } from './defaults.ts'
import type { FaultInjector } from './faults/fault-injector.ts'
import type { RequestLog } from './faults/request-log.ts'
import type { ServerRequest, ServerResponse } from './http/exchange.ts'
import { Front } from './http/front.ts'
import { kubeconfig } from './http/kubeconfig.ts'
import type { JsonObject } from './json.ts'
import type { ClusterApi } from './rest/cluster-api.ts'
import { createServerParts, type ServerParts } from './server-parts.ts'

/** A running cluster. */
export interface EmbeddedCluster extends AsyncDisposable {
  /** `https://127.0.0.1:PORT`; throws when the cluster does not listen. */
  readonly url: string
  /** The certificate clients trust, in PEM; throws when the cluster does not listen. */
  readonly caPem: string
  /** A kubeconfig in YAML with an administrator's client certificate. */
  adminKubeconfig(): string
  /** Writes {@link adminKubeconfig} to a file that only its owner can read. */
  writeKubeconfig(path: string): Promise<void>
  /** Carries out a request without a socket, as the system user unless the request says otherwise. */
  handle(request: ServerRequest): Promise<ServerResponse>
  /** Direct access, as the controllers use it. */
  readonly api: ClusterApi
  /**
   * Stores objects as another cluster had them, over what is there: uids, times, managedFields and status stay, only
   * resourceVersions are new. Nothing is defaulted, validated or admitted. Kinds must be served, so definitions of custom
   * resources come first.
   */
  adopt(objects: Iterable<JsonObject>): Promise<void>
  /** Makes the server misbehave on purpose. */
  readonly faults: FaultInjector
  /** Counts requests. */
  readonly requests: RequestLog
  /** Whether the controllers have nothing to do right now; waiting for time counts as nothing to do. */
  readonly isIdle: boolean
  /** Forgets all history: watches and pages from before now answer 410. */
  compact(): void
  /** Cuts all connections and refuses new ones, as an API server that is down; `handle` goes on working. */
  stopListening(): Promise<void>
  /** Listens again on the same port. */
  listenAgain(): Promise<void>
  /** Stops everything. Resolves when nothing runs any more. */
  stop(): Promise<void>
}

/**
 * Starts a cluster.
 *
 * @example
 * await using cluster = await startEmbeddedCluster()
 * await cluster.writeKubeconfig('/tmp/kubeconfig') // then: kubectl --kubeconfig /tmp/kubeconfig get nodes
 *
 * @example
 * const cluster = await startEmbeddedCluster({ listen: false, clock, controllers: false })
 * const response = await cluster.handle({ method: 'GET', path: '/api/v1/pods', headers: {} })
 */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const parts = createServerParts(options)
  try {
    const { api } = parts
    for (const controller of parts.controllers) controller.start()
    await ensureSystemObjects(api)
    if (options.authorization === 'RBAC') await ensureDefaultRoles(api)
    const listener = options.listen === false ? undefined : await Listener.start(options, parts)
    const controllers = startControllers(options, parts, listener)
    return new RunningCluster(parts, controllers, listener)
  } catch (error) {
    // A port in use must not leave timers, or a data directory that nobody can open.
    await Promise.all(parts.controllers.map((controller) => controller.stop()))
    await parts.close()
    throw error
  }
}

function startControllers(
  options: EmbeddedClusterOptions,
  parts: ServerParts,
  listener: Listener | undefined,
): readonly SimulatorController[] {
  if (options.controllers === false) return []
  const controllers = createControllers(parts.api, {
    ...(typeof options.controllers === 'object' ? options.controllers : {}),
    clock: parts.clock,
    random: parts.random,
    ...(options.nodes === undefined ? {} : { nodes: options.nodes }),
    ...(listener === undefined ? {} : { rootCertificate: listener.authority }),
    onError: (controller, key, error) => options.onError?.(error, `${controller} ${key}`),
  })
  for (const controller of controllers) controller.start()
  return controllers
}

const AUTHORITY = 'certificate-authority.json'

/** The authority of the data directory, so that a kubeconfig outlives a restart. */
async function openAuthority(journal: ServerParts['journal']): Promise<CertificateAuthority> {
  const kept = journal?.readFile(AUTHORITY)
  if (kept !== undefined) return CertificateAuthority.load(JSON.parse(kept))
  const authority = await CertificateAuthority.create('reeve-embedded-cluster')
  const { certificate, privateKey } = authority
  journal?.writeFile(AUTHORITY, JSON.stringify({ certificate, privateKey }))
  return authority
}

/** The TLS side of a cluster that listens. */
class Listener {
  readonly authority: string
  readonly front: Front
  readonly #host: string
  readonly #admin: { readonly certificate: string; readonly privateKey: string }

  private constructor(
    authority: string,
    front: Front,
    host: string,
    admin: { readonly certificate: string; readonly privateKey: string },
  ) {
    this.authority = authority
    this.front = front
    this.#host = host
    this.#admin = admin
  }

  static async start(options: EmbeddedClusterOptions, parts: ServerParts): Promise<Listener> {
    const host = options.host ?? DEFAULT_HOST
    const authority = await openAuthority(parts.journal)
    const hosts = [...new Set([host, 'localhost', '127.0.0.1', ...(options.hostnames ?? [])])]
    const server = await authority.issueServer({
      hosts: [...hosts, 'kubernetes', 'kubernetes.default.svc', '10.96.0.1'],
    })
    const admin = await authority.issueClient({ username: 'kubernetes-admin', groups: ['system:masters'] })
    const front = new Front({
      handle: (request) => parts.server.handle(request, 'remote'),
      clock: parts.clock,
      certificate: server.certificate,
      privateKey: server.privateKey,
      clientAuthority: authority.certificate,
      host,
    })
    await front.listen(options.port ?? 0)
    return new Listener(authority.certificate, front, host, admin)
  }

  get url(): string {
    return `https://${this.#host}:${this.front.port}`
  }

  kubeconfig(): string {
    return kubeconfig({
      url: this.url,
      authority: this.authority,
      clientCertificate: this.#admin.certificate,
      clientKey: this.#admin.privateKey,
    })
  }
}

class RunningCluster implements EmbeddedCluster {
  readonly api: ClusterApi
  readonly faults: FaultInjector
  readonly requests: RequestLog
  readonly #parts: ServerParts
  readonly #controllers: readonly SimulatorController[]
  readonly #listener: Listener | undefined
  #stopping: Promise<void> | undefined

  constructor(parts: ServerParts, controllers: readonly SimulatorController[], listener: Listener | undefined) {
    this.#parts = parts
    this.#controllers = controllers
    this.#listener = listener
    this.api = parts.api
    this.faults = parts.faults
    this.requests = parts.requests
  }

  get url(): string {
    return this.#requireListener().url
  }

  get isIdle(): boolean {
    return this.#controllers.every((controller) => controller.isIdle)
  }

  get caPem(): string {
    return this.#requireListener().authority
  }

  adminKubeconfig(): string {
    return this.#requireListener().kubeconfig()
  }

  async writeKubeconfig(path: string): Promise<void> {
    await writeFile(path, this.adminKubeconfig(), { mode: 0o600 })
  }

  handle(request: ServerRequest): Promise<ServerResponse> {
    return this.#parts.server.handle(request)
  }

  async adopt(objects: Iterable<JsonObject>): Promise<void> {
    for (const object of objects) await this.#parts.adopt(object)
  }

  compact(): void {
    this.#parts.store.compact()
  }

  async stopListening(): Promise<void> {
    await this.#requireListener().front.close()
  }

  async listenAgain(): Promise<void> {
    const { front } = this.#requireListener()
    await front.listen(front.port)
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #stop(): Promise<void> {
    // Clients go first: nobody should see half of a cluster.
    this.#parts.server.stop()
    await this.#listener?.front.drain()
    await Promise.all([...this.#controllers, ...this.#parts.controllers].map((controller) => controller.stop()))
    await this.#parts.close()
  }

  #requireListener(): Listener {
    if (this.#listener === undefined) {
      throw new Error('the cluster was started with listen: false, so it has no address; use handle() or listen')
    }
    return this.#listener
  }
}
