/** Collector operators with mistakes that the exploration must find. */
import { type Collector, Collectors, releaseKeyOf } from '@reeve/collector'
import { HelmFailedError } from '@reeve/helm'
import { isAlreadyExists, type KubeClient, Namespaces, type Stored, type WatchEvent } from '@reeve/kube'
import type { OperatorUnderTest } from '@reeve/simulation'
import { exploreCollectors } from '../../exploration/collector.ts'
import type { HelmWorld } from '../../exploration/helm-world.ts'
import { SAMPLE_CHART } from '../../exploration/sample-chart.ts'
import { SimulatedHelm } from '../../exploration/simulated-helm.ts'

const { operator } = exploreCollectors()

/** Never recovers a release that a crash left pending. */
export const neverRecovers: OperatorUnderTest<HelmWorld> = {
  ...exploreCollectors({
    wrap: (helm) => ({
      binary: helm.binary,
      render: (release, chart, options) => helm.render(release, chart, options),
      crds: (chart) => helm.crds(chart),
      install: (release, chart, options) => helm.install(release, chart, options),
      upgrade: (release, chart, options) => helm.upgrade(release, chart, options),
      rollback: (release, revision, options) => helm.rollback(release, revision, options),
      uninstall: (release, options) => helm.uninstall(release, options),
      recover: async () => {
        throw new HelmFailedError('recovery is not implemented', 1)
      },
    }),
  }).operator,
  name: 'never-recovers',
}

/** Acts on events only: installs on ADDED, uninstalls on DELETED, without reading the release and without a finalizer. */
export const actsOnEvents: OperatorUnderTest<HelmWorld> = {
  ...operator,
  name: 'acts-on-events',
  hasElection: false,
  // It writes no status: this is about what it does to releases.
  goal: () => undefined,
  start({ call, world }, client) {
    const helm = new SimulatedHelm(world, { call })
    return {
      async run(signal) {
        try {
          for await (const event of client.watch(Collectors, { signal })) await follow(event, helm, client)
        } catch (error) {
          if (!signal.aborted) throw error
        }
      },
    }
  },
}

async function follow(event: WatchEvent<Collector>, helm: SimulatedHelm, client: KubeClient): Promise<void> {
  if (event.type === 'BOOKMARK') return
  // Every event but a bookmark has a Collector.
  const { spec } = event.object as Stored<Collector>
  const release = releaseKeyOf(spec)
  const values = JSON.parse(Buffer.from(spec.collector.configuration, 'base64').toString())
  const metadata = { name: release.namespace }
  if (event.type === 'ADDED') {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
    await helm.install(release, SAMPLE_CHART, { values })
  } else if (event.type === 'DELETED') await helm.uninstall(release)
}
