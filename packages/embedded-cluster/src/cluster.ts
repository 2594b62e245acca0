/** Starts a cluster: an API server, its controllers and, optionally, a TLS front. */
import { open } from 'node:fs/promises'
import type { ClusterApi } from './api/cluster-api.ts'
import { CertificateAuthority } from './auth/certificates.ts'
import { ensureDefaultRoles } from './auth/default-roles.ts'
import { ensureSystemObjects } from './bootstrap.ts'
import type { EmbeddedClusterOptions } from './cluster-options.ts'
import type { SimulatorController } from './controllers/simulator-controller.ts'
import { DEFAULT_HOST } from './defaults.ts'
import { exposureWarnings, urlHost } from './exposure.ts'
import type { FaultInjector } from './faults/fault-injector.ts'
import type { RequestLog } from './faults/request-log.ts'
import type { ServerRequest, ServerResponse } from './http/exchange.ts'
import { Front } from './http/front.ts'
import { kubeconfig } from './http/kubeconfig.ts'
import type { JsonObject } from './json.ts'
import { createServerParts, type ServerParts } from './server-parts.ts'

/** Requests without a socket. */
export interface ClusterTransport {
  send(request: ServerRequest): Promise<ServerResponse>
  /** Nothing: the cluster outlives its clients. */
  close(): Promise<void>
}

/** A running cluster. */
export interface EmbeddedCluster extends AsyncDisposable {
  /** `https://127.0.0.1:PORT`; throws if the cluster does not listen. */
  readonly url: string
  /** The CA certificate for clients, in PEM; throws if the cluster does not listen. */
  readonly caPem: string
  /** A kubeconfig in YAML with an administrator's client certificate. */
  adminKubeconfig(): string
  /** Writes {@link adminKubeconfig} to a file that only its owner can read. */
  writeKubeconfig(path: string): Promise<void>
  /** Handles a request without a socket, as the system user unless the request has another user. */
  handle(request: ServerRequest): Promise<ServerResponse>
  /** For clients in this process, as the system user: `createClient({ transport: cluster.transport })`. */
  readonly transport: ClusterTransport
  /** Direct access, as used by the controllers. */
  readonly api: ClusterApi
  /**
   * Stores objects from another cluster, replacing existing ones: uids, times, managedFields and status are kept, only
   * resourceVersions are new. Nothing is defaulted, validated or admitted. Kinds must be served, so definitions of
   * custom resources must come first.
   */
  adopt(objects: Iterable<JsonObject>): Promise<void>
  /** Injects faults into the server. */
  readonly faults: FaultInjector
  /** Counts requests. */
  readonly requests: RequestLog
  /** Whether the controllers have nothing to do at the moment; waiting for a timer counts as idle. */
  readonly isIdle: boolean
  /** Discards all history: watches and pages from earlier versions get 410. */
  compact(): void
  /** Closes all connections and refuses new ones, like an API server that is down; `handle` continues to work. */
  stopListening(): Promise<void>
  /** Listens again on the same port. */
  listenAgain(): Promise<void>
  /** Stops everything. Resolves when nothing is running. */
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
 * const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', clock, controllers: false })
 * const response = await cluster.handle({ method: 'GET', path: '/api/v1/pods', headers: {} })
 */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const parts = createServerParts(options)
  try {
    const { api } = parts
    for (const controller of parts.controllers) controller.start()
    await ensureSystemObjects(api)
    if (options.authorization !== 'AlwaysAllow') await ensureDefaultRoles(api)
    const listener = options.listen === false ? undefined : await Listener.start(options, parts)
    const controllers = await startControllers(options, parts, listener)
    return new RunningCluster(parts, controllers, listener)
  } catch (error) {
    // If the port is in use, no timers and no lock on the data directory may remain.
    await Promise.all(parts.controllers.map((controller) => controller.stop()))
    await parts.close()
    throw error
  }
}

async function startControllers(
  options: EmbeddedClusterOptions,
  parts: ServerParts,
  listener: Listener | undefined,
): Promise<readonly SimulatorController[]> {
  if (options.controllers === false) return []
  // Imported lazily: an API server alone starts without the seventy modules of the controllers.
  const { createControllers } = await import('./controllers/index.ts')
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

/** The certificate authority in the data directory, so that a kubeconfig stays valid after a restart. */
function openAuthority(journal: ServerParts['journal']): CertificateAuthority {
  const kept = journal?.readFile(AUTHORITY)
  if (kept !== undefined) return CertificateAuthority.load(JSON.parse(kept))
  const authority = CertificateAuthority.create('reeve-embedded-cluster')
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
    const authority = openAuthority(parts.journal)
    const hosts = [...new Set([host, 'localhost', '127.0.0.1', '::1', ...(options.hostnames ?? [])])]
    const server = authority.issueServer({
      hosts: [...hosts, 'kubernetes', 'kubernetes.default.svc', '10.96.0.1'],
    })
    const admin = authority.issueClient({ username: 'kubernetes-admin', groups: ['system:masters'] })
    const front = new Front({
      handle: (request) => parts.server.handle(request, 'remote'),
      clock: parts.clock,
      certificate: server.certificate,
      privateKey: server.privateKey,
      clientAuthority: authority.certificate,
      host,
    })
    await front.listen(options.port ?? 0)
    const warn = options.onWarning ?? ((message) => process.emitWarning(message, 'EmbeddedClusterWarning'))
    for (const warning of exposureWarnings(front.address, options)) warn(warning)
    return new Listener(authority.certificate, front, host, admin)
  }

  get url(): string {
    return `https://${urlHost(this.#host)}:${this.front.port}`
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
  readonly transport: ClusterTransport = { send: (request) => this.handle(request), close: async () => undefined }
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
    const file = await open(path, 'w', 0o600)
    try {
      // An existing file would keep its mode.
      await file.chmod(0o600)
      await file.writeFile(this.adminKubeconfig())
    } finally {
      await file.close()
    }
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
    // The TLS front closes first: clients must not see a partly stopped cluster.
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
