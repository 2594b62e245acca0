/** Which namespaces Collectors may target, with a simulated Helm. */
import { readReleases } from '@reeve/helm'
import { isNotFound, Namespaces } from '@reeve/kube'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { configured } from '../exploration/declared-collectors.ts'
import { Collectors } from '../src/index.ts'
import { SimulatedStage } from './support/simulated-stage.ts'

const ALLOW = 'collector.example.com/allow-from'
const SMALL = { collector: { configuration: configured({ replicas: 1 }) } }
const targeting = (reference: string) => ({ ...SMALL, tenant: { reference } })

let stage: SimulatedStage

beforeEach(async () => {
  // Collectors are written in the namespace "default", which is not administrative here.
  stage = await SimulatedStage.start({ operatorNamespace: 'operators', adminNamespaces: ['platform'] })
})
afterEach(() => stage.world.stop())

const createNamespace = (name: string, allowFrom?: string) =>
  stage.world.client.create(Namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, ...(allowFrom !== undefined && { annotations: { [ALLOW]: allowFrom } }) },
  })
const accept = (name: string, from: string | null) =>
  stage.world.client.patch(
    Namespaces,
    { name },
    { type: 'merge', patch: { metadata: { annotations: { [ALLOW]: from } } } },
  )
const revisions = async (namespace: string) =>
  (await readReleases(stage.world.client, { namespace, name: 'metrics-eu1' })).map(({ status }) => status)

test.each(['victim', 'operators', 'kube-system'])('a Collector gets nothing in the namespace %s', async (name) => {
  if (name !== 'kube-system') await createNamespace(name)
  await stage.create(targeting(name))
  await stage.untilDegraded('TargetNotAllowed')
  expect((await stage.condition('Degraded'))?.message).toContain(`the namespace "${name}"`)
  expect(await stage.condition('Available')).toMatchObject({ status: 'False', reason: 'NotInstalled' })
  expect(await revisions(name)).toEqual([])
  await stage.remove()
  await stage.untilGone()
})

test('an unknown namespace is created for Collectors of administrators only', async () => {
  await stage.create(targeting('newcomer'))
  await stage.untilDegraded('TargetNotAllowed')
  await expect(stage.world.client.get(Namespaces, { name: 'newcomer' })).rejects.toSatisfy(isNotFound)
})

test('a Collector gets its own namespace, and one that accepts it as soon as that does', async () => {
  await stage.create(targeting('default'), 'own')
  await stage.untilPhase('Available', 'own')
  await createNamespace('friend')
  await stage.create(targeting('friend'))
  await stage.untilDegraded('TargetNotAllowed')
  await accept('friend', 'default')
  await stage.untilPhase('Available')
  expect(await revisions('friend')).toEqual(['deployed'])
})

test('a release stays when its Collector is no longer accepted, and can still be deleted', async () => {
  await createNamespace('friend', 'default')
  await stage.create(targeting('friend'))
  await stage.untilPhase('Available')
  await accept('friend', null)
  await stage.untilDegraded('TargetNotAllowed')
  await stage.configure({ replicas: 2 })
  await stage.world.until(async () => (await stage.status())?.observedGeneration === 2)
  expect(await stage.condition('Available')).toMatchObject({ status: 'True' })
  expect(await revisions('friend')).toEqual(['deployed'])
  await stage.remove()
  await stage.untilGone()
  expect(await revisions('friend')).toEqual([])
})

test('a move to a namespace that does not accept the Collector leaves everything where it is', async () => {
  await stage.create(targeting('default'))
  await stage.untilPhase('Available')
  await createNamespace('victim')
  await stage.patch({ tenant: { reference: 'victim' } })
  await stage.untilDegraded('TargetNotAllowed')
  expect(await revisions('default')).toEqual(['deployed'])
  expect(await revisions('victim')).toEqual([])
})

test('a Collector that may not have a release does not keep it from one that may', async () => {
  await createNamespace('victim')
  await stage.create(targeting('victim'), 'squatter')
  await stage.untilDegraded('TargetNotAllowed', 'squatter')
  await stage.world.pass('1m')
  const { client } = stage.world
  await stage.create(targeting('default'), 'shape')
  const shape = await client.get(Collectors, { namespace: 'default', name: 'shape' })
  const spec = { ...shape.spec, tenant: { ...shape.spec.tenant, reference: 'victim' } }
  await client.create(Collectors, { ...shape, metadata: { namespace: 'victim', name: 'owner' }, spec })
  await stage.world.until(
    async () => (await client.get(Collectors, { namespace: 'victim', name: 'owner' })).status?.phase === 'Available',
  )
  expect(await revisions('victim')).toEqual(['deployed'])
})
