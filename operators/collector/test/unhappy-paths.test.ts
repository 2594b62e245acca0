/** Failures around Collectors and how they are reported, with a simulated Helm. */
import { type ChartResolver, ChartUnreachableError, HelmForbiddenError, readReleases } from '@reeve/helm'
import { Deployments, type Secret, Secrets, Services } from '@reeve/kube'
import { afterEach, expect, test } from 'vitest'
import { configured } from '../exploration/declared-collectors.ts'
import { MAX_CONFIGURATION_BYTES } from '../src/api/collector.ts'
import { charts, SimulatedStage } from './support/simulated-stage.ts'

const RELEASE = { namespace: 'acme', name: 'metrics-eu1' }
const SMALL = { collector: { configuration: configured({ replicas: 1 }) } }

let stage: SimulatedStage
afterEach(() => stage.world.stop())

const revisions = async () => (await readReleases(stage.world.client, RELEASE)).map(({ status }) => status)

test('the cause of a rollback is kept while the chart source is unreachable', async () => {
  let isUnreachable = false
  const source: ChartResolver = {
    resolve: async (asked) => {
      if (isUnreachable) throw new ChartUnreachableError('the chart source does not respond')
      return charts.resolve(asked)
    },
  }
  stage = await SimulatedStage.start({ charts: source })
  await stage.create(SMALL)
  await stage.untilPhase('Available')
  await stage.configure({ replicas: 1, broken: true })
  await stage.untilDegraded('RolledBack')
  const before = await stage.condition('Degraded')
  expect(before?.message).toContain('Not_A_Name')
  const failure = (await stage.status())?.lastFailure

  isUnreachable = true
  await stage.untilDegraded('HelmChartUnreachable')
  isUnreachable = false
  await stage.untilDegraded('RolledBack')
  expect(await stage.condition('Degraded')).toMatchObject({ message: before?.message })
  expect((await stage.status())?.lastFailure).toEqual(failure)

  // It is forgotten when the values change, and nothing was tried meanwhile.
  await stage.configure({ replicas: 1 })
  await stage.untilPhase('Available')
  expect(await stage.status()).not.toHaveProperty('rolledBack')
  expect(await revisions()).toEqual(['superseded', 'failed', 'deployed'])
})

/** A Secret that claims to be a record of the release. */
const claimedRecord = (revision: number, type: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type,
  metadata: {
    namespace: RELEASE.namespace,
    name: `record-${revision}`,
    labels: { owner: 'helm', name: RELEASE.name, version: String(revision), status: 'deployed' },
  },
  data: { release: Buffer.from('nonsense').toString('base64') },
})

test('a release record that cannot be read is named, and a Secret of another type is ignored', async () => {
  stage = await SimulatedStage.start()
  await stage.create(SMALL)
  await stage.untilPhase('Available')
  await stage.world.client.create(Secrets, claimedRecord(7, 'Opaque'))
  await stage.world.client.create(Secrets, claimedRecord(8, 'helm.sh/release.v1'))
  await stage.untilDegraded('HelmReleaseRecord')
  expect((await stage.condition('Degraded'))?.message).toContain('acme/record-8')
  await stage.world.client.delete(Secrets, { namespace: RELEASE.namespace, name: 'record-8' })
  await stage.untilPhase('Available')
  expect(await revisions()).toEqual(['deployed'])
})

test('a release that its Collector no longer declares is adopted by the one that waits for it', async () => {
  stage = await SimulatedStage.start()
  await stage.create(SMALL)
  await stage.untilPhase('Available')
  const before = await stage.world.client.get(Deployments, RELEASE)
  await stage.world.pass('1m')
  await stage.create({ collector: { configuration: configured({ replicas: 2 }) } }, 'younger')
  await stage.untilDegraded('ReleaseClaimed', 'younger')
  // The release belongs to the older one.
  expect(await stage.condition('Available', 'younger')).toMatchObject({ status: 'False', reason: 'NotInstalled' })
  expect(await stage.status('younger')).not.toHaveProperty('revision')

  await stage.patch({ tenant: { reference: 'Globex' } })
  await stage.untilPhase('Available', 'younger')
  await stage.world.until(async () => (await stage.status())?.namespace === 'globex')
  await stage.untilPhase('Available')
  await stage.world.pass('10m')
  const after = await stage.world.client.get(Deployments, RELEASE)
  expect(after.metadata.uid).toBe(before.metadata.uid)
  expect(after.spec?.replicas).toBe(2)
  expect(await revisions()).toEqual(['superseded', 'deployed'])
})

test('the status says what is being done while Helm works', async () => {
  const seen: string[] = []
  const recorded = <Args extends unknown[], Result>(command: (...args: Args) => Promise<Result>) => {
    return async (...args: Args) => {
      const { status, reason, message } = (await stage.condition('Progressing')) ?? {}
      seen.push(`${status} ${reason}: ${message}`)
      return command(...args)
    }
  }
  stage = await SimulatedStage.start({
    helm: (helm) =>
      Object.assign(helm, {
        install: recorded(helm.install.bind(helm)),
        upgrade: recorded(helm.upgrade.bind(helm)),
        uninstall: recorded(helm.uninstall.bind(helm)),
      }),
  })
  await stage.create(SMALL)
  await stage.untilPhase('Available')
  await stage.configure({ replicas: 2 })
  await stage.world.until(async () => (await revisions()).length === 2)
  await stage.untilPhase('Available')
  await stage.remove()
  await stage.untilGone()
  expect(seen).toEqual([
    'True Installing: installing acme/metrics-eu1',
    'True Upgrading: upgrading acme/metrics-eu1',
    'True Uninstalling: uninstalling acme/metrics-eu1',
  ])
})

test('a deletion that fails says why, still describes the release, and continues when it can', async () => {
  let isAllowed = false
  stage = await SimulatedStage.start({
    helm: (helm) => {
      const uninstall = helm.uninstall.bind(helm)
      return Object.assign(helm, {
        uninstall: (...args: Parameters<typeof uninstall>) => {
          if (!isAllowed) throw new HelmForbiddenError('services cannot be deleted')
          return uninstall(...args)
        },
      })
    },
  })
  await stage.create(SMALL)
  await stage.untilPhase('Available')
  await stage.remove()
  await stage.untilDegraded('HelmForbidden')
  expect(await stage.condition('Progressing')).toMatchObject({
    status: 'True',
    reason: 'Uninstalling',
    message: expect.stringMatching(/^uninstalling acme\/metrics-eu1; attempt \d failed$/),
  })
  expect(await stage.status()).toMatchObject({ phase: 'Deleting', revision: 1, chart: 'log-collector-1.0.0' })
  expect(await stage.condition('Available')).toMatchObject({ status: 'True' })
  isAllowed = true
  await stage.untilGone()
  expect(await revisions()).toEqual([])
})

test('values from a Secret that are too large are rejected before they are parsed', async () => {
  stage = await SimulatedStage.start()
  const text = `text: ${'x'.repeat(MAX_CONFIGURATION_BYTES)}`
  await stage.world.client.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name: 'values' },
    data: { 'values.yaml': Buffer.from(text).toString('base64') },
  })
  await stage.create({ collector: { configurationFrom: { secretName: 'values', key: 'values.yaml' } } })
  await stage.untilDegraded('InvalidConfiguration')
  expect((await stage.condition('Degraded'))?.message).toMatch(/^spec\.collector\.configurationFrom: has 262150 bytes/)
  expect(await revisions()).toEqual([])
})

test('deletions that finalizers hold up occupy neither Helm nor workers, and end when the objects are gone', async () => {
  const waits: unknown[] = []
  stage = await SimulatedStage.start({
    helm: (helm) => {
      const uninstall = helm.uninstall.bind(helm)
      return Object.assign(helm, {
        uninstall: (...[release, options]: Parameters<typeof uninstall>) => {
          waits.push(options?.wait)
          return uninstall(release, options)
        },
      })
    },
    concurrency: 2,
  })
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) {
    await stage.create({ ...SMALL, tenant: { reference: 'acme', instance: name } }, name)
    await stage.untilPhase('Available', name)
    const patch = { metadata: { finalizers: ['example.com/held'] } }
    await stage.world.client.patch(Services, { namespace: 'acme', name: `metrics-${name}` }, { type: 'merge', patch })
  }
  for (const name of names) await stage.remove(name)
  await stage.world.until(async () => waits.length === names.length)
  const start = stage.world.clock.now()
  await stage.create({ ...SMALL, tenant: { reference: 'other', instance: 'x' } }, 'other')
  await stage.untilPhase('Available', 'other')
  expect(stage.world.clock.now() - start).toBeLessThan(10_000)
  expect(waits).toEqual([undefined, undefined, undefined, undefined])
  expect((await stage.status('a'))?.phase).toBe('Deleting')
  for (const name of names) {
    const patch = { metadata: { finalizers: [] } }
    await stage.world.client.patch(Services, { namespace: 'acme', name: `metrics-${name}` }, { type: 'merge', patch })
    await stage.untilGone(name)
    expect(waits).toHaveLength(names.length)
  }
})

test('releases of one namespace on which Helm takes long do not keep those of others waiting', async () => {
  const gate = Promise.withResolvers<void>()
  const underWay: string[] = []
  stage = await SimulatedStage.start({
    helm: (helm) => {
      const install = helm.install.bind(helm)
      return Object.assign(helm, {
        install: async (...args: Parameters<typeof install>) => {
          underWay.push(args[0].namespace)
          // A hook that does not end.
          if (args[0].namespace === 'slow') await gate.promise
          return install(...args)
        },
      })
    },
  })
  const names = Array.from({ length: 12 }, (_, index) => `s${index}`)
  for (const name of names) await stage.create({ ...SMALL, tenant: { reference: 'slow', instance: name } }, name)
  await stage.world.until(async () => underWay.length === 3)
  await stage.world.until(async () => (await stage.condition('Progressing', 's11'))?.reason === 'WaitingForTurn')
  const start = stage.world.clock.now()
  await stage.create({ ...SMALL, tenant: { reference: 'other', instance: 'x' } }, 'other')
  await stage.untilPhase('Available', 'other')
  expect(stage.world.clock.now() - start).toBeLessThan(10_000)
  expect(underWay).toEqual(['slow', 'slow', 'slow', 'other'])
  gate.resolve()
  for (const name of names) await stage.untilPhase('Available', name)
})
