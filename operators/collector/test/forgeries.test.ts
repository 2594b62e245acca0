/** Attacks by forged records and names, and by changes while the operator works; with a simulated Helm. */
import { type ChartResolver, type ReleaseKey, readReleases } from '@reeve/helm'
import { encodeRelease } from '@reeve/helm/testing'
import { isNotFound, Namespaces, Secrets } from '@reeve/kube'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { configured } from '../exploration/declared-collectors.ts'
import { charts, SimulatedStage } from './support/simulated-stage.ts'

const ALLOW = 'collector.example.com/allow-from'
const SMALL = { collector: { configuration: configured({ replicas: 1 }) } }
const targeting = (reference: string) => ({ ...SMALL, tenant: { reference } })

let stage: SimulatedStage

beforeEach(async () => {
  stage = await SimulatedStage.start()
})
afterEach(() => stage.close())

test('a namespace that has just stopped accepting a Collector is not written to, although the cache is behind', async () => {
  const metadata = { name: 'friend', annotations: { [ALLOW]: 'default' } }
  await stage.client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
  const helm = stage.helm()
  const installed: string[] = []
  const slow: ChartResolver = {
    // While the chart is fetched, the owner of the namespace changes their mind.
    resolve: async (source) => {
      const patch = { metadata: { annotations: { [ALLOW]: null } } }
      await stage.client.patch(Namespaces, { name: 'friend' }, { type: 'merge', patch })
      return charts.resolve(source)
    },
  }
  stage.run(Object.assign(helm, { install: async () => installed.push('install') }), slow, { adminNamespaces: [] })
  await stage.create(targeting('friend'))
  await stage.untilDegraded('TargetNotAllowed')
  expect(installed).toEqual([])
})

test('a Collector that was never valid can be deleted, regardless of its target', async () => {
  stage.run(stage.helm())
  for (const reference of ['..', '../../api', 'a:b', 'a\nb', '-x']) {
    await stage.create({ tenant: { reference } }, 'odd')
    await stage.untilDegraded('InvalidSpec', 'odd')
    await stage.remove('odd')
    await stage.until(() => stage.status('odd').then(() => false, isNotFound))
  }
})

test('a revision whose record was replaced is not rolled back to when it leaves the namespace', async () => {
  const helm = stage.helm()
  const rolledBack: number[] = []
  const rollback = async (_release: ReleaseKey, revision: number) => void rolledBack.push(revision)
  stage.run(Object.assign(helm, { rollback }))
  await stage.create(targeting('default'))
  await stage.untilPhase('Available')
  const release = { namespace: 'default', name: 'metrics-eu1' }
  const [made] = await readReleases(stage.client, release)
  const stolen = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'kube-system' },
  })
  const forged = encodeRelease({ ...release, ...made, manifest: `${made?.manifest}\n---\n${stolen}\n` })
  const key = { namespace: 'default', name: forged.metadata.name ?? '' }
  await stage.client.patch(Secrets, key, { type: 'merge', patch: { data: forged.data } })
  await stage.configure({ replicas: 1, broken: true })
  await stage.untilDegraded('ObjectNotAllowed')
  expect((await stage.condition('Degraded'))?.message).toContain('ConfigMap kube-system/a, in another namespace')
  expect(rolledBack).toEqual([])
})
