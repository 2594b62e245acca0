/** Starts and stops a control plane on loopback. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient } from './api-client.ts'
import { type Binaries, ensureBinaries } from './binaries.ts'
import {
  type CertificateAuthority,
  type ClientIdentity,
  createCertificateAuthority,
  createServiceAccountKeys,
  type KeyPair,
} from './certificates.ts'
import {
  API_SERVER_NAMES,
  apiServerArguments,
  controllerManagerArguments,
  etcdArguments,
  FILES,
  type Ports,
} from './component-arguments.ts'
import { READY_POLL_INTERVAL_MS, START_ATTEMPTS, START_TIMEOUT_MS } from './defaults.ts'
import { ComponentExitedError, NotReadyError } from './errors.ts'
import { freePorts } from './free-ports.ts'
import { type Connection, renderKubeconfig } from './kubeconfig.ts'
import { Supervisor } from './supervisor.ts'

export interface RealClusterOptions {
  /**
   * Executables to run.
   * @default what `ensureBinaries()` finds or builds
   */
  readonly binaries?: Binaries
  /**
   * Controllers to run, in the syntax of kube-controller-manager's `--controllers`. An empty list starts no controller
   * manager, only an API server, as envtest does.
   * @default ['*']
   */
  readonly controllers?: readonly string[]
  /** More flags for kube-apiserver, such as `--feature-gates=…`; the last flag with a given name wins. */
  readonly apiServerArguments?: readonly string[]
  /** More flags for kube-controller-manager. */
  readonly controllerManagerArguments?: readonly string[]
  /**
   * Folder where the components' logs are kept after the cluster stops.
   * @default the cluster's own folder, which is removed
   */
  readonly logFolder?: string
  /**
   * How long starting may take.
   * @default 90_000
   */
  readonly startTimeoutMs?: number
  /** Aborts the start and stops everything started so far. A running cluster is ended by `stop`. */
  readonly signal?: AbortSignal
}

/** A running control plane, with administrator credentials. */
export interface RealCluster extends Connection, AsyncDisposable {
  /** Certificate of a member of `system:masters`. */
  readonly cert: string
  readonly key: string
  /** A kubeconfig for the same identity. */
  readonly kubeconfigPath: string
  /** How to reach etcd, in the form of a kubeconfig; for tests about its history. */
  readonly etcdKubeconfigPath: string
  /** The folder with all files of the cluster; deleted by `stop`. */
  readonly folder: string
  /** Process ids by name: `supervisor`, `etcd`, `kube-apiserver`, `kube-controller-manager`. */
  readonly processes: Readonly<Record<string, number>>
  /** Rejects when a component exits unexpectedly; never settles otherwise. */
  readonly failed: Promise<never>
  /** Kills the API server, for tests of what works without it. `failed` stays as it is. */
  stopApiServer(): Promise<void>
  /** Starts it again at the same address, with the same data; resolves when it is ready. */
  startApiServer(): Promise<void>
  /** A client certificate for another user. */
  issueClientCertificate(identity: ClientIdentity): Promise<KeyPair>
  /** Ends all processes and removes the folder; resolves when both are done. May be called twice. */
  stop(): Promise<void>
}

/**
 * Starts etcd, kube-apiserver and kube-controller-manager on free loopback ports: TLS, client certificates, RBAC,
 * default admission plugins. No kubelet and no scheduler run; `startSimulatedNodes` replaces them.
 *
 * Guarantees: when it resolves, `/readyz` is ok and the namespace `default` has its service account. When it throws,
 * nothing runs and nothing is left on disk. The same holds after the calling process ends, even by SIGKILL.
 *
 * Errors: those of `ensureBinaries`, `ComponentExitedError`, `NotReadyError`, the signal's reason.
 *
 * @example
 * await using cluster = await startRealCluster()
 * console.log(cluster.kubeconfigPath)
 */
export async function startRealCluster(options: RealClusterOptions = {}): Promise<RealCluster> {
  const binaries = options.binaries ?? (await ensureBinaries({ signal: options.signal }))
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(binaries, options)
    } catch (error) {
      const isPortTaken =
        error instanceof ComponentExitedError && error.logTail.includes('bind: address already in use')
      if (!isPortTaken || attempt === START_ATTEMPTS) throw error
    }
  }
}

async function startOnce(binaries: Binaries, options: RealClusterOptions): Promise<RealCluster> {
  const { controllers = ['*'], startTimeoutMs = START_TIMEOUT_MS } = options
  const folder = await mkdtemp(join(tmpdir(), 'reeve-real-cluster-'))
  const logFolder = options.logFolder ?? folder
  // From here on the supervisor is responsible for the folder.
  const supervisor = new Supervisor(folder, logFolder)
  try {
    await mkdir(logFolder, { recursive: true })
    const [etcdClient = 0, etcdPeer = 0, apiServer = 0] = await freePorts(3)
    const ports: Ports = { etcdClient, etcdPeer, apiServer }
    const file = (name: string) => join(folder, name)

    const authority = await createCertificateAuthority('reeve-real-cluster')
    const admin = await authority.issueClient({ user: 'reeve-admin', groups: ['system:masters'] })
    const server = `https://127.0.0.1:${ports.apiServer}`
    const connection = { server, ca: authority.pair.cert, ...admin }
    await writeFiles(file, authority, connection, `https://127.0.0.1:${ports.etcdClient}`)

    supervisor.start('etcd', binaries.etcd, etcdArguments(file, ports))
    const startApiServer = async (ready: ReadinessPoll) => {
      const args = [...apiServerArguments(file, ports), ...(options.apiServerArguments ?? [])]
      supervisor.start('kube-apiserver', binaries['kube-apiserver'], args)
      await ready.wait('kube-apiserver', '/readyz')
    }
    const ready = new ReadinessPoll(connection, supervisor, startTimeoutMs, options.signal)
    try {
      await startApiServer(ready)
      if (controllers.length > 0) {
        supervisor.start('kube-controller-manager', binaries['kube-controller-manager'], [
          ...controllerManagerArguments(file, controllers),
          ...(options.controllerManagerArguments ?? []),
        ])
        if (controllers.includes('*')) {
          await ready.wait('kube-controller-manager', '/api/v1/namespaces/default/serviceaccounts/default')
        }
      }
    } finally {
      await ready.close()
    }

    const stop = () => supervisor.stop()
    return {
      ...connection,
      kubeconfigPath: file(FILES.adminKubeconfig),
      etcdKubeconfigPath: file(FILES.etcdKubeconfig),
      folder,
      get processes() {
        return supervisor.processes
      },
      failed: supervisor.failed,
      stopApiServer: () => supervisor.kill('kube-apiserver'),
      async startApiServer() {
        const again = new ReadinessPoll(connection, supervisor, startTimeoutMs)
        await startApiServer(again).finally(() => again.close())
      },
      issueClientCertificate: (identity) => authority.issueClient(identity),
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await supervisor.stop()
    throw error
  }
}

async function writeFiles(
  file: (name: string) => string,
  authority: CertificateAuthority,
  admin: Connection,
  etcdServer: string,
): Promise<void> {
  const etcd = await authority.issueServer('etcd', ['localhost', '127.0.0.1'])
  const apiServer = await authority.issueServer('kube-apiserver', API_SERVER_NAMES)
  const kubeletClient = await authority.issueClient({
    user: 'kube-apiserver-kubelet-client',
    groups: ['system:masters'],
  })
  const controllerManager = await authority.issueClient({ user: 'system:kube-controller-manager' })
  const serviceAccount = createServiceAccountKeys()
  const contents: Readonly<Record<keyof typeof FILES, string>> = {
    ca: authority.pair.cert,
    caKey: authority.pair.key,
    etcdCert: etcd.cert,
    etcdKey: etcd.key,
    apiServerCert: apiServer.cert,
    apiServerKey: apiServer.key,
    kubeletClientCert: kubeletClient.cert,
    kubeletClientKey: kubeletClient.key,
    serviceAccountKey: serviceAccount.privateKey,
    serviceAccountPublicKey: serviceAccount.publicKey,
    controllerManagerKubeconfig: renderKubeconfig({ ...admin, ...controllerManager }),
    adminKubeconfig: renderKubeconfig(admin),
    etcdKubeconfig: renderKubeconfig({ server: etcdServer, ca: authority.pair.cert, ...etcd }),
  }
  for (const [name, path] of Object.entries(FILES)) {
    // Object.entries widens the keys declared by the type of `contents`.
    await writeFile(file(path), contents[name as keyof typeof FILES], { mode: 0o600 })
  }
}

/** Polls until the response is 200, a component exits, the timeout expires or the caller aborts. */
class ReadinessPoll {
  readonly #client: ApiClient
  readonly #supervisor: Supervisor
  readonly #timeoutMs: number
  readonly #deadline: AbortSignal
  readonly #closed = new AbortController()
  readonly #signal: AbortSignal

  constructor(connection: Connection, supervisor: Supervisor, timeoutMs: number, signal?: AbortSignal) {
    this.#client = new ApiClient(connection)
    this.#supervisor = supervisor
    this.#timeoutMs = timeoutMs
    this.#deadline = AbortSignal.timeout(timeoutMs)
    this.#signal = AbortSignal.any([this.#deadline, this.#closed.signal, ...(signal === undefined ? [] : [signal])])
  }

  wait(component: string, path: string): Promise<void> {
    return Promise.race([this.#poll(component, path), this.#supervisor.failed])
  }

  /** Also ends a poll that lost the race against the exit of a component. */
  close(): Promise<void> {
    this.#closed.abort()
    return this.#client.close()
  }

  async #poll(component: string, path: string): Promise<void> {
    let lastResponse = 'none'
    try {
      for (;;) {
        try {
          await this.#client.text({ method: 'GET', path, signal: this.#signal })
          return
        } catch (error) {
          if (this.#signal.aborted) throw error
          // A starting server refuses connections or responds with errors.
          lastResponse = String(error)
        }
        await sleep(READY_POLL_INTERVAL_MS, undefined, { signal: this.#signal })
      }
    } catch (error) {
      if (!this.#deadline.aborted) throw this.#signal.reason ?? error
      const tail = await this.#supervisor.logTail(component)
      throw new NotReadyError(`${component} did not become ready at ${path}`, this.#timeoutMs, lastResponse, tail)
    }
  }
}
