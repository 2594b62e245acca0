/**
 * The WebApp operator for hours under changes and faults, as fast as it keeps up: does it hold more and more? The embedded cluster,
 * which is the fastest server, runs in this process and the operator, as its image contains it, in another.
 */
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { crdManifest } from '@reeve/crd'
import { type EmbeddedCluster, type FaultMatch, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  CustomResourceDefinitions,
  createClient,
  Deployments,
  Events,
  type KubeClient,
  Namespaces,
  Services,
} from '@reeve/kube'
import { WebAppCrd, WebApps } from '@reeve/webapp'
import { type OperatorProcess, startOperator } from './peers/operator-process.ts'
import { reeveOperator } from './peers/programs.ts'
import { type Result, withoutPeer } from './result.ts'
import type { ProbeReport } from './soak-probe.ts'
import { inParallel, webApp, webAppName } from './webapp-load.ts'

const MIB = 1024 ** 2
const NAMESPACE = 'operator'
const PROBE = fileURLToPath(new URL('./soak-probe.ts', import.meta.url))
/** WebApps at any time. No multiple of the kinds of changes: so each WebApp meets all of them. */
const POPULATION = 401
/** Changes, each of another WebApp, until everything has to have converged again. */
const BATCH = 300
/** One batch in this many meets a fault. */
const FAULT_EVERY = 10
const SAMPLES = 60
const CONVERGED_MS = 120_000
/** Looking takes the server as long as a few changes. */
const POLL_MS = 200

/** Of its mean, memory may rise by this over the second half; a rise of the fitted line, not of single samples. */
const MAX_RISE = 0.05
/** Sockets, descriptors and timers may rise by this. */
const MAX_RISE_COUNT = 2

/** What is watched, at one moment at which everything has converged. */
interface Sample {
  readonly heapBytes: number
  readonly externalBytes: number
  readonly anonymousBytes: number
  readonly descriptors: number
  readonly sockets: number
  readonly timers: number
}

/** Runs for some minutes; fails when anything keeps growing, or does not converge. */
export async function soak(minutes: number): Promise<readonly Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-soak-'))
  try {
    // Controllers would take several times the CPU time of the operator.
    await using cluster = await startEmbeddedCluster({ controllers: false })
    const kubeconfigPath = join(folder, 'kubeconfig')
    await cluster.writeKubeconfig(kubeconfigPath)
    const world = new World(cluster)
    await world.prepare()
    const operator = await reeveOperator(join(folder, 'bundle'))
    await using running = await startOperator(operator({ kubeconfigPath }), { probe: PROBE })
    await world.converged(running)
    return verdict(await sampled(world, running, minutes), world.changes)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function sampled(world: World, running: OperatorProcess, minutes: number): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  const startedAt = performance.now()
  let before = { atMs: startedAt, cpuMs: 0, changes: 0 }
  while (samples.length < SAMPLES) {
    await world.changeAndConverge(running)
    const atMs = performance.now()
    if (atMs - startedAt < ((samples.length + 1) * minutes * 60_000) / SAMPLES) continue
    const { cpuMs } = await running.usage()
    const sample = await sampleOf(running)
    samples.push(sample)
    await world.forgetEvents()
    const share = (100 * (cpuMs - before.cpuMs)) / (atMs - before.atMs)
    const perMinute = ((world.changes - before.changes) * 60_000) / (atMs - before.atMs)
    const columns = [
      `${((atMs - startedAt) / 60_000).toFixed(1)} min: ${world.changes} changes, ${perMinute.toFixed(0)} per minute`,
      `${share.toFixed(0)} % of a core`,
      ...SERIES.map(({ name, of, show }) => `${name} ${show(of(sample))}`),
    ]
    console.error(columns.join(', '))
    before = { atMs, cpuMs, changes: world.changes }
  }
  return samples
}

async function sampleOf(running: OperatorProcess): Promise<Sample> {
  // The probe sends nothing else.
  const { heapBytes, externalBytes, resources } = (await running.ask(AbortSignal.timeout(30_000))) as ProbeReport
  const folder = `/proc/${running.pid}/fd`
  const descriptors = await readdir(folder)
  const targets = await Promise.all(descriptors.map((name) => readlink(join(folder, name)).catch(() => '')))
  return {
    heapBytes,
    externalBytes,
    anonymousBytes: await running.anonymousBytes(),
    descriptors: descriptors.length,
    sockets: targets.filter((target) => target.startsWith('socket:')).length,
    timers: resources.Timeout ?? 0,
  }
}

const mebibytes = (bytes: number): string => `${(bytes / MIB).toFixed(2)} MiB`
const count = (value: number): string => value.toFixed(0)
const share = (mean: number): number => MAX_RISE * mean
const few = (): number => MAX_RISE_COUNT

interface Series {
  readonly name: string
  of(sample: Sample): number
  show(value: number): string
  /** How much it may rise over the second half. */
  maxRise(mean: number): number
}

const SERIES: readonly Series[] = [
  { name: 'heap after a collection', of: ({ heapBytes }) => heapBytes, show: mebibytes, maxRise: share },
  { name: 'buffers', of: ({ externalBytes }) => externalBytes, show: mebibytes, maxRise: share },
  { name: 'anonymous memory', of: ({ anonymousBytes }) => anonymousBytes, show: mebibytes, maxRise: share },
  { name: 'file descriptors', of: ({ descriptors }) => descriptors, show: count, maxRise: few },
  { name: 'sockets', of: ({ sockets }) => sockets, show: count, maxRise: few },
  { name: 'timers', of: ({ timers }) => timers, show: count, maxRise: few },
]

/** The first half is warming up: compiled code, pools and caches. */
function verdict(samples: readonly Sample[], changes: number): readonly Result[] {
  const second = samples.slice(Math.floor(samples.length / 2))
  const judged = SERIES.map(({ name, of, show, maxRise }) => {
    const values = second.map(of)
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const rise = riseOf(values)
    const note = `rises by ${show(rise)}, at most ${show(maxRise(mean))} is flat`
    const isFlat = rise <= maxRise(mean)
    const figure = `${show(Math.min(...values))}–${show(Math.max(...values))}`
    return { isFlat, result: withoutPeer(`soak, second half: ${name}`, figure, note) }
  })
  const growing = judged
    .filter(({ isFlat }) => !isFlat)
    .map(({ result: { name, figure, note } }) => `${name}: ${figure}, ${note}`)
  if (growing.length > 0) throw new Error(`after ${changes} changes it has not come to rest:\n${growing.join('\n')}`)
  return [withoutPeer('soak: changes applied', String(changes)), ...judged.map(({ result }) => result)]
}

/** How much the line that fits best (least squares) rises from the first value to the last. */
function riseOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  let [covariance, variance] = [0, 0]
  for (const [index, value] of values.entries()) {
    covariance += (index - middle) * (value - mean)
    variance += (index - middle) ** 2
  }
  return variance === 0 ? 0 : (covariance / variance) * (values.length - 1)
}

/** Requests of the operator: all others do without sockets, and are made by the system. */
const OF_OPERATOR: FaultMatch = { where: ({ username }) => username === 'kubernetes-admin' }

/** The cluster, its WebApps, and what happens to them. */
class World {
  readonly #cluster: EmbeddedCluster
  readonly #client: KubeClient
  /** Indexes of the WebApps that exist. */
  readonly #indexes = Array.from({ length: POPULATION }, (_, index) => index)
  #created = POPULATION
  #batches = 0
  changes = 0

  constructor(cluster: EmbeddedCluster) {
    this.#cluster = cluster
    this.#client = createClient({ transport: cluster.transport, fieldManager: 'bench' })
  }

  async prepare(): Promise<void> {
    await this.#client.apply(CustomResourceDefinitions, crdManifest(WebAppCrd))
    await this.#client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
    await inParallel(POPULATION, (index) => this.#client.create(WebApps, webApp(NAMESPACE, index)))
  }

  /** A batch of changes, now and then with a fault, until the operator has applied them. */
  async changeAndConverge(running: OperatorProcess): Promise<void> {
    const end = await this.#fault(this.#batches++)
    await inParallel(BATCH, () => this.#change(this.changes++))
    await end()
    await this.converged(running)
    this.#cluster.faults.clear()
  }

  /** Resolves when everything is as the WebApps say. */
  async converged(running: OperatorProcess): Promise<void> {
    const deadline = performance.now() + CONVERGED_MS
    for (;;) {
      const wrong = await this.#wrong()
      if (wrong === undefined) return
      await running.usage() // fails when the operator has ended
      if (performance.now() > deadline)
        throw new Error(`${CONVERGED_MS / 1_000} s after batch ${this.#batches}: ${wrong}`)
      await pause(POLL_MS)
    }
  }

  /** Every name is new, so that a later round finds what was kept of former ones. */
  async #change(change: number): Promise<void> {
    const slot = change % POPULATION
    const key = { namespace: NAMESPACE, name: webAppName(this.#indexes[slot] ?? 0) }
    switch (change % 10) {
      case 0: {
        const index = this.#created++
        this.#indexes[slot] = index
        await this.#client.delete(WebApps, key)
        // As the garbage collector would.
        await Promise.all([this.#client.delete(Deployments, key), this.#client.delete(Services, key)])
        await this.#client.create(WebApps, webApp(NAMESPACE, index))
        break
      }
      case 1:
        await this.#client.patch(Deployments, key, { type: 'merge', patch: { spec: { replicas: 0 } } })
        break
      case 2:
        await this.#client.delete(Services, key)
        break
      case 3:
      case 4: {
        // As the controller of Deployments would.
        const ready = change % 3
        const status = { observedGeneration: change, replicas: 2, readyReplicas: ready, availableReplicas: ready }
        await this.#client.patch(Deployments, key, { type: 'merge', patch: { status } }, { subresource: 'status' })
        break
      }
      default: {
        const patch = { spec: { image: `nginx:1.29.${change}` } }
        await this.#client.patch(WebApps, key, { type: 'merge', patch })
      }
    }
  }

  /** Begins what disturbs this batch; the result ends what must not last. */
  async #fault(batch: number): Promise<() => Promise<void>> {
    const nothing = async () => undefined
    if (batch % FAULT_EVERY !== FAULT_EVERY - 1) return nothing
    const { faults } = this.#cluster
    switch (Math.floor(batch / FAULT_EVERY) % 4) {
      case 0:
        await this.#cluster.stopListening()
        return () => this.#cluster.listenAgain()
      case 1:
        await this.#cluster.stopListening()
        return async () => {
          this.#cluster.compact() // what was missed is lost: the operator has to list everything again
          await this.#cluster.listenAgain()
        }
      case 2:
        for (const how of ['close', 'reset', 'expired'] as const) {
          faults.inject({ ...OF_OPERATOR, verb: 'watch' }, { kind: 'watch-end', afterEvents: 5, how }, { times: 3 })
        }
        await this.#cluster.stopListening()
        return () => this.#cluster.listenAgain()
      default:
        faults.inject({ ...OF_OPERATOR, verb: 'update' }, { kind: 'status', code: 409 }, { times: 5 })
        faults.inject({ ...OF_OPERATOR, verb: 'patch' }, { kind: 'status', code: 500 }, { times: 5 })
        faults.inject({ ...OF_OPERATOR, verb: 'create' }, { kind: 'reset', when: 'after' }, { times: 5 })
        return nothing
    }
  }

  /** What has not converged, if anything. */
  async #wrong(): Promise<string | undefined> {
    const [apps, deployments, services] = await Promise.all([
      this.#client.listAll(WebApps, { namespace: NAMESPACE }),
      this.#client.listAll(Deployments, { namespace: NAMESPACE }),
      this.#client.listAll(Services, { namespace: NAMESPACE, metadataOnly: true }),
    ])
    const [app, deployment, service] = [apps, deployments, services].map(({ items }) => items.length)
    if (deployment !== app || service !== app) return `${app} WebApps, ${deployment} Deployments, ${service} Services`
    const specs = new Map(deployments.items.map(({ metadata, spec }) => [metadata.name, spec]))
    const wrong = apps.items.find(({ metadata, spec, status }) => {
      const deployed = specs.get(metadata.name)
      return (
        status?.observedGeneration !== metadata.generation ||
        deployed?.replicas !== spec.replicas ||
        deployed?.template.spec?.containers[0]?.image !== spec.image
      )
    })
    return wrong && `WebApp ${wrong.metadata.name} is not as it should be`
  }

  /** The cluster would keep events for an hour. */
  async forgetEvents(): Promise<void> {
    await this.#client.deleteCollection(Events, { namespace: NAMESPACE })
  }
}
