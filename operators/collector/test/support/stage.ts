/** A cluster with the CRD, the real helm, a folder of charts, and operators that can be started, stopped and killed. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BRIEF_CLIENT, findClientBinary, helmsToTry } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { crdManifest } from '@reeve/crd'
import {
  ChartStore,
  findHelm,
  type Helm,
  openHelm,
  type ProcessRequest,
  type RunProcess,
  runProcess,
} from '@reeve/helm'
import { sleep } from '@reeve/http'
import {
  type ClientOptions,
  type ClusterConfig,
  CustomResourceDefinitions,
  createClient,
  type DiscoveringClient,
  loadConfig,
  RoleBindings,
} from '@reeve/kube'
import {
  type Collector,
  CollectorCrd,
  type CollectorOperator,
  type CollectorOperatorOptions,
  type CollectorSettings,
  Collectors,
  createCollectorOperator,
  type Phase,
} from '../../src/index.ts'

const PATIENCE_MS = 60_000

/** The helm of the machine or the one that comes with the repository; suites skip without one. */
export const helmPath = await findClientBinary('helm')

/** That one and, on a real cluster, the one of the major version before. */
export const helms = await helmsToTry()

const CHARTS = fileURLToPath(new URL('../../charts', import.meta.url))

/** An operator that runs. */
export interface RunningOperator extends Pick<CollectorOperator, 'manager' | 'webhooks'> {
  /** Every helm command it started, as its arguments. */
  readonly commands: readonly (readonly string[])[]
  stop(): Promise<void>
}

/** What of an operator a test may choose. */
export interface StartOptions extends Partial<Omit<CollectorOperatorOptions, 'client' | 'helm'>> {
  /** Called for every helm process before it starts. */
  readonly onProcess?: (request: ProcessRequest, stop: () => void) => void
  /** How to connect to the cluster. @default as the administrator */
  readonly config?: ClusterConfig
  /** Called for every request of the operator itself. */
  readonly onRequest?: ClientOptions['onRequest']
}

/** What a suite works with. */
export interface Stage {
  readonly cluster: ClusterUnderTest
  readonly client: DiscoveringClient
  /** For the suite's own use, beside the operator. */
  readonly helm: Helm
  /** Where the cluster `development` has its charts; a copy that a test may change. */
  readonly charts: string
  /** Where Collectors are written. */
  readonly namespace: string
  /** Adds a chart that is the sample chart under another name, with one more template. */
  addChart(name: string, template: string): Promise<void>
  /** Gives the account of a namespace a ClusterRole in there: by default, everything. */
  grantAccount(namespace: string, clusterRole?: string, account?: string): Promise<void>
  startOperator(options?: StartOptions): Promise<RunningOperator>
  untilPhase(name: string, phase: Phase, revision?: number): Promise<Collector>
  until(condition: () => Promise<boolean>): Promise<void>
  close(): Promise<void>
}

/** Whether a helm command is a dry run. */
export function isDryRun(args: readonly string[]): boolean {
  return args.includes('--dry-run=server')
}

const runBriefly: RunProcess = (request) => runProcess({ ...request, env: { ...request.env, ...BRIEF_CLIENT } })

/** Settings that give the accounts of created namespaces everything in there. */
export function settingsFor(clusters: CollectorSettings['clusters']): CollectorSettings {
  return { clusters, createdNamespaces: { clusterRole: 'cluster-admin' } }
}

export async function setStage(path = helmPath): Promise<Stage> {
  const cluster = await openCluster()
  const config = await loadConfig({ kubeconfig: cluster.kubeconfigPath })
  const client = createClient({ config })
  const folder = await mkdtemp(join(tmpdir(), 'reeve-collector-'))
  const charts = join(folder, 'charts')
  await cp(CHARTS, charts, { recursive: true })
  const binary = await findHelm({ env: { HELM_BIN: path } })
  const helm = await openHelm(binary, config, { runProcess: runBriefly })
  const namespace = await cluster.createNamespace()
  // The manifest is what the server accepts; the built-in type spells its schema out.
  const manifest = crdManifest(CollectorCrd)
  // It is not deleted: other suites may use the same cluster.
  await client.apply(CustomResourceDefinitions, manifest, { force: true, fieldManager: 'test' })
  const until: Stage['until'] = async (condition) => {
    const deadline = AbortSignal.timeout(PATIENCE_MS)
    while (!(await condition())) await sleep(50, { signal: deadline })
  }
  await until(async () => {
    const { status } = await client.get(CustomResourceDefinitions, { name: CollectorCrd.name })
    return status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') ?? false
  })
  const operators = new Set<RunningOperator>()
  const stage: Stage = {
    cluster,
    client,
    helm,
    charts,
    namespace,
    until,
    async addChart(name, template) {
      const chart = join(charts, name)
      await cp(join(CHARTS, 'log-collector'), chart, { recursive: true })
      const described = await readFile(join(chart, 'Chart.yaml'), 'utf8')
      await writeFile(join(chart, 'Chart.yaml'), described.replace(/^name: .*$/m, `name: ${name}`))
      await writeFile(join(chart, 'templates', `${name}.yaml`), template)
    },
    async grantAccount(target, clusterRole = 'cluster-admin', account = 'collector') {
      await client.create(RoleBindings, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { namespace: target, name: account },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
        subjects: [{ kind: 'ServiceAccount', namespace: target, name: account }],
      })
    },
    async startOperator({ onProcess, config: own = config, onRequest, ...options } = {}) {
      const ending = new AbortController()
      const stop = () => ending.abort()
      const commands: (readonly string[])[] = []
      const driver = await openHelm(binary, own, {
        runProcess(request) {
          commands.push(request.args)
          onProcess?.(request, stop)
          return runBriefly(request)
        },
      })
      const ownClient = createClient({ config: own, ...(onRequest && { onRequest }) })
      const { manager, webhooks } = createCollectorOperator({
        client: ownClient,
        helm: driver,
        charts: new ChartStore(join(folder, 'cache')),
        settings: settingsFor({ development: { type: 'directory', location: charts } }),
        // Other suites use the same cluster.
        namespace,
        adminNamespaces: [namespace],
        // Manual changes are to be detected within seconds.
        checkIntervalMs: 1_000,
        ...options,
      })
      const running = manager.run(ending.signal)
      running.catch(() => undefined)
      const handle: RunningOperator = {
        commands,
        manager,
        webhooks,
        async stop() {
          operators.delete(handle)
          ending.abort()
          await running
          await driver.close()
          await ownClient.close()
        },
      }
      operators.add(handle)
      return handle
    },
    async untilPhase(name, phase, revision) {
      let last: Collector | undefined
      await until(async () => {
        last = await client.get(Collectors, { namespace, name })
        const { status, metadata } = last
        const isCurrent = status?.observedGeneration === metadata.generation
        return isCurrent && status?.phase === phase && (revision === undefined || status.revision === revision)
      }).catch((error: unknown) => {
        throw new Error(`Collector ${name} is ${JSON.stringify(last?.status)} instead of ${phase}`, { cause: error })
      })
      return client.get(Collectors, { namespace, name })
    },
    async close() {
      for (const operator of operators) await operator.stop()
      await helm.close()
      await client.close()
      await cluster.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  // For values and credentials that Collectors have in Secrets beside them.
  await stage.grantAccount(namespace)
  return stage
}
