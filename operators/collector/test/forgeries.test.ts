/** Attacks by forged records and names, and by changes while the operator works; with a simulated Helm. */

import { gzipSync } from 'node:zlib'
import { type ChartResolver, type ReleaseKey, readReleases } from '@reeve/helm'
import { encodeRelease } from '@reeve/helm/testing'
import { Namespaces, Secrets } from '@reeve/kube'
import { afterEach, expect, test } from 'vitest'
import { configured } from '../exploration/declared-collectors.ts'
import type { SimulatedHelm } from '../exploration/simulated-helm.ts'
import { charts, SimulatedStage } from './support/simulated-stage.ts'

const ALLOW = 'collector.example.com/allow-from'
const SMALL = { collector: { configuration: configured({ replicas: 1 }) } }
const targeting = (reference: string) => ({ ...SMALL, tenant: { reference } })

let stage: SimulatedStage
afterEach(() => stage.world.stop())

test('a namespace that has just stopped accepting a Collector is not written to, although the cache is behind', async () => {
  const installed: string[] = []
  const slow: ChartResolver = {
    // While the chart is fetched, the owner of the namespace changes their mind.
    resolve: async (source) => {
      const patch = { metadata: { annotations: { [ALLOW]: null } } }
      await stage.world.client.patch(Namespaces, { name: 'friend' }, { type: 'merge', patch })
      return charts.resolve(source)
    },
  }
  stage = await SimulatedStage.start({
    helm: (helm) => Object.assign(helm, { install: async () => installed.push('install') }),
    charts: slow,
    adminNamespaces: [],
  })
  await stage.world.apply(Namespaces, { metadata: { name: 'friend', annotations: { [ALLOW]: 'default' } } })
  await stage.create(targeting('friend'))
  await stage.untilDegraded('TargetNotAllowed')
  expect(installed).toEqual([])
})

test('a Collector that was never valid can be deleted, regardless of its target', async () => {
  stage = await SimulatedStage.start()
  for (const reference of ['..', '../../api', 'a:b', 'a\nb', '-x']) {
    await stage.create({ tenant: { reference } }, 'odd')
    await stage.untilDegraded('InvalidSpec', 'odd')
    await stage.remove('odd')
    await stage.untilGone('odd')
  }
})

test('a revision whose record was replaced is not rolled back to when it leaves the namespace', async () => {
  const rolledBack: number[] = []
  const rollback = async (_release: ReleaseKey, revision: number) => void rolledBack.push(revision)
  stage = await SimulatedStage.start({ helm: (helm) => Object.assign(helm, { rollback }) })
  await stage.create(targeting('default'))
  await stage.untilPhase('Available')
  const release = { namespace: 'default', name: 'metrics-eu1' }
  const [made] = await readReleases(stage.world.client, release)
  const stolen = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'kube-system' },
  })
  const forged = encodeRelease({ ...release, ...made, manifest: `${made?.manifest}\n---\n${stolen}\n` })
  const key = { namespace: 'default', name: forged.metadata.name ?? '' }
  await stage.world.client.patch(Secrets, key, { type: 'merge', patch: { data: forged.data } })
  await stage.configure({ replicas: 1, broken: true })
  await stage.untilDegraded('ObjectNotAllowed')
  expect((await stage.condition('Degraded'))?.message).toContain('ConfigMap kube-system/a, in another namespace')
  expect(rolledBack).toEqual([])
})

/** Packed a few ten KB each; unpacked and parsed they would end the process. */
const COSTLY = {
  'lists in lists as values': (record: object) =>
    JSON.stringify(record).replace(/}$/, `,"config":{"a":[${'[],'.repeat(2_000_000)}0]}}`),
  'more lists than are unpacked': (record: object) =>
    JSON.stringify(record).replace(/}$/, `,"config":{"a":[${'[],'.repeat(10_000_000)}0]}}`),
  'small documents': (record: object) => JSON.stringify({ ...record, manifest: '---\na\n'.repeat(1_300_000) }),
  'many objects': (record: object) =>
    JSON.stringify({
      ...record,
      manifest: Array.from(
        { length: 90_000 },
        (_, i) => `---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a${i}}}\n`,
      ).join(''),
    }),
  'one costly document': (record: object) =>
    JSON.stringify({
      ...record,
      manifest: `apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: [${'[],'.repeat(100_000)}]\n`,
    }),
}

test.each(Object.entries(COSTLY))(
  'a record with %s is a condition, Helm is not started, and others are served',
  async (_, forge) => {
    const commands: string[] = []
    const counted = ['install', 'upgrade', 'rollback', 'recover', 'uninstall'] as const
    const helm = (simulated: SimulatedHelm) => {
      for (const name of counted) {
        const command = simulated[name].bind(simulated) as (...args: unknown[]) => Promise<never>
        Object.assign(simulated, {
          [name]: (release: ReleaseKey, ...args: unknown[]) => {
            commands.push(`${name} ${release.name}`)
            return command(release, ...args)
          },
        })
      }
      return simulated
    }
    stage = await SimulatedStage.start({ helm })
    await stage.create(targeting('default'))
    await stage.untilPhase('Available')
    const release = { namespace: 'default', name: 'metrics-eu1' }
    const [made] = await readReleases(stage.world.client, release)
    const record = {
      ...release,
      version: 1,
      info: { status: 'deployed', description: made?.description },
      manifest: made?.manifest,
    }
    const packed = gzipSync(forge(record))
    expect(packed.length).toBeLessThan(600_000)
    const key = { namespace: 'default', name: `sh.helm.release.v1.${release.name}.v1` }
    const data = { release: Buffer.from(packed.toString('base64')).toString('base64') }
    await stage.world.client.patch(Secrets, key, { type: 'merge', patch: { data } })
    commands.length = 0
    await stage.configure({ replicas: 2 })
    const before = process.threadCpuUsage()
    await stage.untilDegraded('HelmReleaseRecord')
    const { user, system } = process.threadCpuUsage(before)
    expect(user + system, 'microseconds, with all that the cluster does').toBeLessThan(1_000_000)
    await stage.create({ ...targeting('default'), tenant: { reference: 'default', instance: 'other' } }, 'other')
    await stage.untilPhase('Available', 'other')
    await stage.remove()
    await stage.untilPhase('Deleting')
    await stage.untilDegraded('HelmReleaseRecord')
    expect(commands.filter((command) => command.includes(release.name))).toEqual([])
    // Whoever forged it can delete it.
    await stage.world.client.delete(Secrets, key)
    await stage.untilGone()
  },
)

test('more records than a release has are a condition, and are not read', async () => {
  stage = await SimulatedStage.start()
  await stage.create(targeting('default'))
  await stage.untilPhase('Available')
  for (let revision = 2; revision <= 60; revision++) {
    await stage.world.client.create(Secrets, encodeRelease({ namespace: 'default', name: 'metrics-eu1', revision }))
  }
  await stage.configure({ replicas: 2 })
  await stage.untilDegraded('HelmReleaseRecord')
  expect((await stage.condition('Degraded'))?.message).toContain('more than 50 records')
})
