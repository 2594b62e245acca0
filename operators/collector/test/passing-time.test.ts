/** What happens while time passes: on a simulated clock, with a Helm that keeps account of what it is asked. */
import { crdManifest } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type ChartResolver,
  ChartUnreachableError,
  type DeployOptions,
  type Release,
  type ReleaseKey,
  readReleases,
  ValuesRefusedError,
} from '@reeve/helm'
import { encodeRelease } from '@reeve/helm/testing'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  Deployments,
  Events,
  type KubeClient,
  Secrets,
} from '@reeve/kube'
import { SimulatedClock, seededRandom } from '@reeve/runtime/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { configured } from '../src/exploration/declared-collectors.ts'
import { ReleaseStore } from '../src/exploration/release-store.ts'
import { SimulatedHelm } from '../src/exploration/simulated-helm.ts'
import { CollectorCrd, type CollectorOperatorOptions, Collectors, createCollectorOperator } from '../src/index.ts'
import { type CollectorParts, collectorOf } from '../src/testing/collector.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const KEY = { namespace: 'default', name: 'metrics' }

let clock: SimulatedClock
let cluster: EmbeddedCluster
let client: KubeClient
/** Every helm command. */
let commands: string[]
/** Writes of the operator, by verb and resource. */
let writes: string[]
let reconciles: number
let stop: (() => Promise<void>) | undefined

beforeEach(async () => {
  clock = new SimulatedClock()
  cluster = await startEmbeddedCluster({ listen: false, clock, random: seededRandom(1), nodes: 3 })
  client = connect()
  commands = []
  writes = []
  reconciles = 0
  // The manifest is what the server accepts; the built-in type spells its schema out.
  await client.create(CustomResourceDefinitions, crdManifest(CollectorCrd) as unknown as CustomResourceDefinition)
})
afterEach(async () => {
  await stop?.()
  stop = undefined
  await cluster.stop()
})

function connect(onWrite?: (request: string) => void): KubeClient {
  return createClient({
    clock,
    random: seededRandom(2),
    transport: { send: (request) => cluster.handle(request), close: async () => undefined },
    onRequest({ verb, resource }) {
      if (!['get', 'list', 'watch'].includes(verb)) onWrite?.(`${verb} ${resource}`)
    },
  })
}

const charts: ChartResolver = {
  resolve: async () => ({
    path: '/chart',
    name: 'metrics',
    version: '1.0.0',
    digest: `sha256:${'c'.repeat(64)}`,
    fromCache: false,
    source: 'test',
  }),
}

const MANIFEST = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'acme', labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
  },
}

/** Does what helm does, as far as the operator can see: writes the objects, and the record. */
async function install(release: ReleaseKey, _chart: unknown, options: DeployOptions = {}): Promise<Release> {
  const { labels = {}, description = '' } = options
  const { items } = await client.list(Secrets, { namespace: release.namespace })
  // An upgrade that only records that it was made: somebody else has the last word about the objects.
  if (items.length === 0) await client.apply(Deployments, MANIFEST, { force: true, fieldManager: 'helm' })
  const lastDeployed = new Date(clock.now()).toISOString()
  const revision = items.length + 1
  const made = { ...release, revision, labels, description, lastDeployed, manifest: JSON.stringify(MANIFEST) }
  await client.create(Secrets, encodeRelease(made))
  // Nobody reads what it returns.
  return made as unknown as Release
}

/** Starts an operator whose helm does `work` for every command. */
function start(work: (...args: Parameters<typeof install>) => Promise<Release>): void {
  const command = (verb: string) => (release: ReleaseKey, chart: unknown, options?: DeployOptions) => {
    commands.push(verb)
    return work(release, chart, options)
  }
  run({
    binary: { path: '/bin/helm', version: '4.1.0', major: 4 },
    install: command('install'),
    upgrade: command('upgrade'),
    rollback: async () => void commands.push('rollback'),
    uninstall: async () => commands.push('uninstall') > 0,
    recover: async () => ({ action: 'none' }),
  })
}

function run(helm: CollectorOperatorOptions['helm'], source: ChartResolver = charts): void {
  const ending = new AbortController()
  const { manager } = createCollectorOperator({
    client: connect((request) => writes.push(request)),
    helm,
    charts: source,
    settings: { clusters: { development: { type: 'directory', location: '/charts' } } },
    clock,
    random: seededRandom(3),
    onReconcile: () => reconciles++,
  })
  const running = manager.run(ending.signal)
  running.catch(() => undefined)
  stop = async () => {
    ending.abort()
    await clock.runToCompletion(running, { maxMs: HOUR_MS })
  }
}

async function create(parts: CollectorParts = {}): Promise<void> {
  const { metadata: _builders, ...collector } = collectorOf(parts)
  await client.create(Collectors, { ...collector, metadata: KEY })
}

const status = async () => (await client.get(Collectors, KEY)).status
const untilPhase = (phase: string) =>
  clock.runUntil(async () => (await status())?.phase === phase, { maxMs: 10 * MINUTE_MS })

const degraded = async () => (await status())?.conditions?.find(({ type }) => type === 'Degraded')

async function warnings(): Promise<readonly string[]> {
  const { items } = await client.listAll(Events, { namespace: KEY.namespace })
  return items
    .filter(({ type }) => type === 'Warning')
    .flatMap(({ reason = '', count = 1 }) => Array(count).fill(reason))
}

test('a settled Collector costs neither a helm nor a write in hours, and a look every five minutes', async () => {
  start(install)
  await create()
  await untilPhase('Available')
  await clock.advance(MINUTE_MS)
  const looks = reconciles
  commands.length = 0
  writes.length = 0
  await clock.advance(3 * HOUR_MS)
  expect(commands).toEqual([])
  expect(writes).toEqual([])
  expect(reconciles - looks).toBeLessThanOrEqual(3 * 12 + 1)
})

test('bad input is told once, starts no helm, and is looked at less and less often', async () => {
  start(install)
  await create({ collector: { configuration: 'no base64!' } })
  await untilPhase('Degraded')
  // Events are kept for an hour.
  await clock.advance(HOUR_MS - 5 * MINUTE_MS)
  expect(await warnings()).toEqual(['InvalidSpec'])
  expect(commands).toEqual([])
  // After 5 s, 10 s, 20 s … 10 min, and some at the start for the finalizer and the status.
  expect(reconciles).toBeLessThan(20)
})

test('what fails is tried again after 5 s, 10 s, 20 s … 10 min, and the event is one', async () => {
  const times: number[] = []
  start(async () => {
    times.push(clock.now())
    throw new ValuesRefusedError('replicas: must be a number', [])
  })
  await create()
  await untilPhase('Degraded')
  await clock.advance(HOUR_MS - 5 * MINUTE_MS)
  const delays = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / 1_000))
  expect(delays.slice(0, 9)).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600])
  expect(await warnings()).toEqual(['HelmValuesRefused'])
  expect((await status())?.lastFailure?.attempts).toBe(times.length)
})

test('drift that an upgrade does not heal is said, and not fought over', async () => {
  start(install)
  await create({ spec: { drift: 'Heal' } })
  await untilPhase('Available')
  const patch = { spec: { paused: true, replicas: 3 } }
  await client.patch(Deployments, { namespace: 'acme', name: 'web' }, { type: 'merge', patch })
  await untilPhase('Degraded')
  await clock.advance(HOUR_MS - 5 * MINUTE_MS)
  expect(commands).toEqual(['install', 'upgrade'])
  expect(await warnings()).toEqual(['DriftPersists'])
  expect((await status())?.lastFailure?.message).toMatch(
    /^changed: Deployment web \(spec\.replicas\); an upgrade has not/,
  )
})

test('why a release was rolled back is not forgotten while its chart cannot be had', async () => {
  let isAway = false
  run(new SimulatedHelm({ clock, releases: new ReleaseStore(client) }), {
    resolve: async (source) => {
      if (isAway) throw new ChartUnreachableError('the chart source does not answer')
      return charts.resolve(source)
    },
  })
  const configure = (values: Readonly<Record<string, unknown>>) =>
    client.patch(Collectors, KEY, {
      type: 'merge',
      patch: { spec: { collector: { configuration: configured(values) } } },
    })
  const untilReason = (reason: string) =>
    clock.runUntil(async () => (await degraded())?.reason === reason, { maxMs: 20 * MINUTE_MS })
  await create({ collector: { configuration: configured({ replicas: 1 }) } })
  await untilPhase('Available')
  await configure({ replicas: 1, broken: true })
  await untilReason('RolledBack')
  const told = await degraded()
  expect(told?.message).toContain('Not_A_Name')
  const failure = (await status())?.lastFailure

  isAway = true
  await untilReason('HelmChartUnreachable')
  isAway = false
  await untilReason('RolledBack')
  expect(await degraded()).toMatchObject({ message: told?.message })
  expect((await status())?.lastFailure).toEqual(failure)

  // What is not asked for any longer is forgotten, and nothing was tried meanwhile.
  await configure({ replicas: 1 })
  await untilPhase('Available')
  expect(await status()).not.toHaveProperty('rolledBack')
  const history = await readReleases(client, { namespace: 'acme', name: 'metrics-eu1' })
  expect(history.map(({ status: state }) => state)).toEqual(['superseded', 'failed', 'deployed'])
})
