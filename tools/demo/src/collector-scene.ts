/** The Collector operator in the demo: the sample chart as a Helm release in the namespace of a tenant. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findClientBinary } from '@reeve/client-binaries'
import { type Collector, CollectorCrd, Collectors, createCollectorOperator } from '@reeve/collector'
import { crdManifest } from '@reeve/crd'
import { ChartStore, findHelm, type HelmBinary, HelmError, openHelm } from '@reeve/helm'
import { sleep } from '@reeve/http'
import { loadConfig, type Resource } from '@reeve/kube'
import { parse } from 'yaml'
import { applyCrd, FIELD_MANAGER } from './apply-crd.ts'
import { colourOf, type Narrated, type NarratedKind } from './narrator.ts'
import type { OpenScene, Scene, SceneStage } from './scene.ts'

const NAMESPACE = 'default'
const SAMPLE = new URL('../../../operators/collector/samples/acme.yaml', import.meta.url)
const CHARTS = fileURLToPath(new URL('../../../operators/collector/charts', import.meta.url))

/** The conditions in the order in which they are shown: failures, then progress, then success. */
const CONDITIONS = ['Degraded', 'Progressing', 'Available'] as const

const COLLECTOR: NarratedKind = {
  // The narrator reads what all kinds have in common.
  resource: Collectors as Resource<Narrated>,
  describe({ status }) {
    const word = status?.phase ?? 'Created'
    const holding = CONDITIONS.map((type) =>
      status?.conditions?.find((condition) => condition.type === type && condition.status === 'True'),
    )
    const detail = holding.find((condition) => condition !== undefined)?.message ?? ''
    return { word, colour: word === 'Available' ? 'green' : colourOf(word), detail }
  },
}

/** A collector for a tenant, from a chart. */
export const collectorScene: Scene = {
  title: 'Collector: a Helm release in the namespace of a tenant',
  kubectlNames: 'collectors',
  hint: 'kubectl patch collector acme-logs --type=merge -p \'{"spec":{"tenant":{"instance":"us1"}}}\', and helm list -A',
  kinds: [COLLECTOR],
  async obstacle() {
    try {
      await demoHelm()
      return undefined
    } catch (error) {
      if (error instanceof HelmError) return error.message
      throw error
    }
  },
  open: openCollectorScene,
}

/** The helm of this machine, or the one that comes with the repository. */
async function demoHelm(signal?: AbortSignal): Promise<HelmBinary> {
  const carried = await findClientBinary('helm')
  return findHelm({ ...(carried !== undefined && { fallbackPath: carried }), ...(signal && { signal }) })
}

async function openCollectorScene(stage: SceneStage, signal: AbortSignal): Promise<OpenScene> {
  const { client, logger, kubeconfigPath } = stage
  await applyCrd(client, crdManifest(CollectorCrd), signal)
  // Removed immediately if something below fails, and otherwise when the scene is closed.
  await using held = new AsyncDisposableStack()
  const config = await loadConfig(kubeconfigPath === undefined ? {} : { kubeconfig: kubeconfigPath })
  const helm = held.use(await openHelm(await demoHelm(signal), config, { logger }))
  const folder = await mkdtemp(join(tmpdir(), 'reeve-demo-charts-'))
  held.defer(() => rm(folder, { recursive: true, force: true }))
  const { manager } = createCollectorOperator({
    client,
    logger,
    observer: stage.console.observer(),
    helm,
    charts: new ChartStore(folder),
    adminNamespaces: [NAMESPACE],
    settings: {
      clusters: { development: { type: 'directory', location: CHARTS } },
      // Helm acts as an account of the namespace of the tenant, which has all rights in it.
      createdNamespaces: { clusterRole: 'admin' },
    },
  })
  // The sample is checked by the operator's own tests.
  const sample = parse(await readFile(SAMPLE, 'utf8')) as Collector
  const key = { namespace: NAMESPACE, name: sample.metadata.name ?? '' }
  const kept = held.move()
  return {
    run: (until) => manager.run(until),
    async play(limit) {
      const options = { fieldManager: FIELD_MANAGER, force: true, signal: limit }
      await client.apply(Collectors, { ...sample, metadata: { ...sample.metadata, ...key } }, options)
      while ((await client.get(Collectors, key, { signal: limit })).status?.phase !== 'Available') {
        await sleep(200, { signal: limit })
      }
    },
    async explain() {
      const { status } = await client.get(Collectors, key)
      const messages = (status?.conditions ?? []).map(
        ({ type, status: value, message }) => `${type}=${value} ${message}`,
      )
      return `Collector ${key.name} is ${status?.phase ?? 'unknown'}: ${messages.join('; ')}`
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
