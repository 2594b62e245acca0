/** The operator in memory, with a helm and a chart source that a test may replace. */
import { crdManifest } from '@reeve/crd'
import type { ChartResolver } from '@reeve/helm'
import { Events } from '@reeve/kube'
import { runInMemory, type World } from '@reeve/testing'
import { configured } from '../../exploration/declared-collectors.ts'
import { ReleaseStore } from '../../exploration/release-store.ts'
import { SimulatedHelm } from '../../exploration/simulated-helm.ts'
import { CollectorCrd, type CollectorOperatorOptions, Collectors, createCollectorOperator } from '../../src/index.ts'
import { type CollectorParts, collectorOf } from '../../src/testing/collector.ts'

/** The Collector that a test is about, unless it names another. */
const COLLECTOR = 'metrics'
const NAMESPACE = 'default'

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

/** What a test replaces of the operator. */
interface StageOptions extends Partial<Omit<CollectorOperatorOptions, 'client' | 'helm'>> {
  /** Makes a helm from one that writes to the cluster as the real one does. @default the same */
  readonly helm?: (helm: SimulatedHelm) => CollectorOperatorOptions['helm']
}

/** What a test works with. */
export class SimulatedStage {
  readonly world: World

  private constructor(world: World) {
    this.world = world
  }

  static async start({ helm = (same) => same, ...options }: StageOptions = {}): Promise<SimulatedStage> {
    const world = await runInMemory({
      name: 'collector-operator',
      crds: () => [crdManifest(CollectorCrd)],
      create: (given) =>
        createCollectorOperator({
          ...given,
          helm: helm(new SimulatedHelm({ clock: given.clock, releases: new ReleaseStore(given.client) })),
          charts,
          adminNamespaces: [NAMESPACE],
          settings: { clusters: { development: { type: 'directory', location: '/charts' } } },
          ...options,
        }),
    })
    return new SimulatedStage(world)
  }

  async create(parts: CollectorParts = {}, name = COLLECTOR): Promise<void> {
    const { metadata: _builders, ...collector } = collectorOf(parts)
    await this.world.client.create(Collectors, { ...collector, metadata: { namespace: NAMESPACE, name } })
  }

  async patch(spec: object, name = COLLECTOR): Promise<void> {
    await this.world.patch(Collectors, name, { spec })
  }

  configure(values: Readonly<Record<string, unknown>>, name = COLLECTOR): Promise<void> {
    return this.patch({ collector: { configuration: configured(values) } }, name)
  }

  remove(name = COLLECTOR): Promise<void> {
    return this.world.delete(Collectors, name)
  }

  async status(name = COLLECTOR) {
    return (await this.world.get(Collectors, name)).status
  }

  async condition(type: string, name = COLLECTOR) {
    return (await this.status(name))?.conditions?.find((condition) => condition.type === type)
  }

  async untilPhase(phase: string, name = COLLECTOR): Promise<void> {
    await this.world.until(Collectors, name, ({ status }) => status?.phase === phase)
  }

  /** Waits until a Collector is degraded for that reason. */
  async untilDegraded(reason: string, name = COLLECTOR): Promise<void> {
    await this.world.until(
      Collectors,
      name,
      ({ status }) => status?.conditions?.find(({ type }) => type === 'Degraded')?.reason === reason,
    )
  }

  untilGone(name = COLLECTOR): Promise<void> {
    return this.world.until(async () => (await this.world.find(Collectors, name)) === undefined)
  }

  /** The reasons of all warnings, each as often as it was counted. */
  async warnings(): Promise<readonly string[]> {
    return (await this.world.list(Events))
      .filter(({ type }) => type === 'Warning')
      .flatMap(({ reason = '', count = 1 }) => Array(count).fill(reason))
  }
}
