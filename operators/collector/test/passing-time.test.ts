/** Hours on a simulated clock, with a Helm that records its commands. */
import { type DeployOptions, type Release, type ReleaseKey, ValuesRefusedError } from '@reeve/helm'
import { encodeRelease } from '@reeve/helm/testing'
import { Deployments, Secrets } from '@reeve/kube'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CollectorOperatorOptions, Collectors } from '../src/index.ts'
import { SimulatedStage } from './support/simulated-stage.ts'

let stage: SimulatedStage
/** Every helm command. */
let commands: string[]

beforeEach(() => {
  commands = []
})
afterEach(() => stage.world.stop())

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
  const { items } = await stage.world.client.list(Secrets, { namespace: release.namespace })
  // An upgrade that only writes a record: the objects stay as someone else has changed them.
  if (items.length === 0) await stage.world.client.apply(Deployments, MANIFEST, { force: true, fieldManager: 'helm' })
  const lastDeployed = new Date(stage.world.clock.now()).toISOString()
  const revision = items.length + 1
  const made = { ...release, revision, labels, description, lastDeployed, manifest: JSON.stringify(MANIFEST) }
  await stage.world.client.create(Secrets, encodeRelease(made))
  // The result is not used.
  return made as unknown as Release
}

/** Starts an operator whose helm does `work` for every command. */
async function start(work: (...args: Parameters<typeof install>) => Promise<Release> = install): Promise<void> {
  const command = (verb: string) => (release: ReleaseKey, chart: unknown, options?: DeployOptions) => {
    commands.push(verb)
    return work(release, chart, options)
  }
  const helm: CollectorOperatorOptions['helm'] = {
    binary: { path: '/bin/helm', version: '4.1.0', major: 4 },
    // Only these members are used.
    render: async () => ({ manifest: JSON.stringify(MANIFEST), hooks: [] }) as unknown as Release,
    crds: async () => [],
    install: command('install'),
    upgrade: command('upgrade'),
    rollback: async () => void commands.push('rollback'),
    uninstall: async () => commands.push('uninstall') > 0,
    recover: async () => ({ action: 'none' }),
  }
  stage = await SimulatedStage.start({ helm: () => helm })
}

test('a settled Collector is checked once a minute, which starts no helm and writes nothing', async () => {
  await start()
  await stage.create()
  await stage.untilPhase('Available')
  await stage.world.pass('1m')
  const before = stage.world.reconciles.length
  commands.length = 0
  expect(await stage.world.writesDuring('3h')).toBe(0)
  expect(commands).toEqual([])
  expect(stage.world.reconciles.length - before).toBeGreaterThan(3 * 60 - 5)
  expect(stage.world.reconciles.length - before).toBeLessThanOrEqual(3 * 60 + 1)
})

test('invalid input is reported once, starts no helm, and is retried less and less often', async () => {
  await start()
  await stage.create({ collector: { configuration: 'no base64!' } })
  await stage.untilPhase('Degraded')
  // Events are kept for an hour.
  await stage.world.pass('55m')
  expect(await stage.warnings()).toEqual(['InvalidSpec'])
  expect(commands).toEqual([])
  // After 5 s, 10 s, 20 s … 10 min, and some at the start for the finalizer and the status.
  expect(stage.world.reconciles.length).toBeLessThan(20)
})

test('failures are retried after 5 s, 10 s, 20 s … 10 min, with a single event', async () => {
  const times: number[] = []
  await start(async () => {
    times.push(stage.world.clock.now())
    throw new ValuesRefusedError('replicas: must be a number', [])
  })
  await stage.create()
  await stage.untilPhase('Degraded')
  await stage.world.pass('55m')
  const delays = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / 1_000))
  expect(delays.slice(0, 9)).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600])
  expect(await stage.warnings()).toEqual(['HelmValuesRefused'])
  expect((await stage.status())?.lastFailure?.attempts).toBe(times.length)
})

test('a failure is recorded once although the status that reports it conflicts with another write', async () => {
  let attempts = 0
  await start(async () => {
    attempts += 1
    if (attempts === 1) {
      // The status that the operator read is outdated when it writes.
      const key = { namespace: 'default', name: 'metrics' }
      const patch = { status: { observedGeneration: 7 } }
      await stage.world.client.patch(Collectors, key, { type: 'merge', patch }, { subresource: 'status' })
    }
    throw new ValuesRefusedError('replicas: must be a number', [])
  })
  await stage.create()
  await stage.untilPhase('Degraded')
  await stage.world.pass('1s')
  expect(attempts).toBe(2)
  expect(await stage.warnings()).toEqual(['HelmValuesRefused'])
})

test('drift that an upgrade does not heal is reported, and not healed again', async () => {
  await start()
  await stage.create({ spec: { drift: 'Heal' } })
  await stage.untilPhase('Available')
  const patch = { spec: { paused: true, replicas: 3 } }
  await stage.world.client.patch(Deployments, { namespace: 'acme', name: 'web' }, { type: 'merge', patch })
  await stage.untilPhase('Degraded')
  await stage.world.pass('55m')
  expect(commands).toEqual(['install', 'upgrade'])
  expect(await stage.warnings()).toEqual(['DriftPersists'])
  expect((await stage.status())?.lastFailure?.message).toMatch(
    /^changed: Deployment web \(spec\.replicas\); an upgrade has not restored it/,
  )
})
