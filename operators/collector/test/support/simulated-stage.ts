/** A cluster in this process on a simulated clock, and an operator whose helm and chart source a test provides. */
import { crdManifest } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import type { ChartResolver } from '@reeve/helm'
import { CustomResourceDefinitions, createClient, Events, type KubeClient } from '@reeve/kube'
import { SimulatedClock, seededRandom } from '@reeve/runtime/testing'
import { configured } from '../../exploration/declared-collectors.ts'
import { ReleaseStore } from '../../exploration/release-store.ts'
import { SimulatedHelm } from '../../exploration/simulated-helm.ts'
import { CollectorCrd, type CollectorOperatorOptions, Collectors, createCollectorOperator } from '../../src/index.ts'
import { type CollectorParts, collectorOf } from '../../src/testing/collector.ts'

/** Milliseconds. */
export const MINUTE_MS = 60_000
/** Milliseconds. */
export const HOUR_MS = 60 * MINUTE_MS

/** The Collector that a test is about, unless it names another. */
const COLLECTOR = 'metrics'
const NAMESPACE = 'default'

/** The longest that anything may take, in simulated time. */
const PATIENCE_MS = 20 * MINUTE_MS

/** A source with one chart that is always available. */
export const charts: ChartResolver = {
  resolve: async () => ({
    path: '/chart',
    name: 'metrics',
    version: '1.0.0',
    digest: `sha256:${'c'.repeat(64)}`,
    fromCache: false,
    source: 'test',
  }),
}

/** What a test works with; to be closed. */
export class SimulatedStage {
  readonly clock: SimulatedClock
  /** For the test's own use, beside the operator. */
  readonly client: KubeClient
  /** Writes of the operator, by verb and resource. */
  readonly writes: string[] = []
  reconciles = 0
  readonly #cluster: EmbeddedCluster
  #stop: (() => Promise<void>) | undefined

  private constructor(clock: SimulatedClock, cluster: EmbeddedCluster) {
    this.clock = clock
    this.#cluster = cluster
    this.client = this.#connect()
  }

  static async start(): Promise<SimulatedStage> {
    const clock = new SimulatedClock()
    const cluster = await startEmbeddedCluster({
      listen: false,
      authorization: 'AlwaysAllow',
      clock,
      random: seededRandom(1),
      nodes: 3,
    })
    const stage = new SimulatedStage(clock, cluster)
    // The manifest is what the server accepts; the built-in type spells its schema out.
    const manifest = crdManifest(CollectorCrd)
    await stage.client.create(CustomResourceDefinitions, manifest)
    return stage
  }

  /** A helm that writes to the cluster of this stage as the real one does. */
  helm(): SimulatedHelm {
    return new SimulatedHelm({ clock: this.clock, releases: new ReleaseStore(this.client) })
  }

  /** Starts the operator. */
  run(
    helm: CollectorOperatorOptions['helm'],
    source: ChartResolver = charts,
    options: Partial<CollectorOperatorOptions> = {},
  ): void {
    const ending = new AbortController()
    const { manager } = createCollectorOperator({
      client: this.#connect((request) => this.writes.push(request)),
      helm,
      charts: source,
      adminNamespaces: [NAMESPACE],
      settings: { clusters: { development: { type: 'directory', location: '/charts' } } },
      clock: this.clock,
      random: seededRandom(3),
      onReconcile: () => this.reconciles++,
      ...options,
    })
    const running = manager.run(ending.signal)
    running.catch(() => undefined)
    this.#stop = async () => {
      ending.abort()
      await this.clock.runToCompletion(running, { maxMs: HOUR_MS })
    }
  }

  async create(parts: CollectorParts = {}, name = COLLECTOR): Promise<void> {
    const { metadata: _builders, ...collector } = collectorOf(parts)
    await this.client.create(Collectors, { ...collector, metadata: { namespace: NAMESPACE, name } })
  }

  async patch(spec: object, name = COLLECTOR): Promise<void> {
    await this.client.patch(Collectors, { namespace: NAMESPACE, name }, { type: 'merge', patch: { spec } })
  }

  configure(values: Readonly<Record<string, unknown>>, name = COLLECTOR): Promise<void> {
    return this.patch({ collector: { configuration: configured(values) } }, name)
  }

  async remove(name = COLLECTOR): Promise<void> {
    await this.client.delete(Collectors, { namespace: NAMESPACE, name })
  }

  async status(name = COLLECTOR) {
    return (await this.client.get(Collectors, { namespace: NAMESPACE, name })).status
  }

  async condition(type: string, name = COLLECTOR) {
    return (await this.status(name))?.conditions?.find((condition) => condition.type === type)
  }

  untilPhase(phase: string, name = COLLECTOR): Promise<void> {
    return this.until(async () => (await this.status(name))?.phase === phase)
  }

  /** Waits until a Collector is degraded for that reason. */
  untilDegraded(reason: string, name = COLLECTOR): Promise<void> {
    return this.until(async () => (await this.condition('Degraded', name))?.reason === reason)
  }

  async until(hasCome: () => Promise<boolean>): Promise<void> {
    await this.clock.runUntil(hasCome, { maxMs: PATIENCE_MS })
  }

  /** The reasons of all warnings, each as often as it was counted. */
  async warnings(): Promise<readonly string[]> {
    const { items } = await this.client.listAll(Events, { namespace: NAMESPACE })
    return items
      .filter(({ type }) => type === 'Warning')
      .flatMap(({ reason = '', count = 1 }) => Array(count).fill(reason))
  }

  async close(): Promise<void> {
    await this.#stop?.()
    await this.#cluster.stop()
  }

  #connect(onWrite?: (request: string) => void): KubeClient {
    return createClient({
      clock: this.clock,
      random: seededRandom(2),
      transport: { send: (request) => this.#cluster.handle(request), close: async () => undefined },
      onRequest({ verb, resource }) {
        if (!['get', 'list', 'watch'].includes(verb)) onWrite?.(`${verb} ${resource}`)
      },
    })
  }
}
