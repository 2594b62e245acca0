/** The life of Collectors with the real helm, on whichever cluster the run is for. */
import { randomBytes } from 'node:crypto'
import { readReleases } from '@reeve/helm'
import { Deployments, isNotFound, Namespaces, Secrets, Services } from '@reeve/kube'
import { getCondition } from '@reeve/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Collector, Collectors } from '../src/index.ts'
import { type CollectorParts, collectorOf, configuration } from '../src/testing/collector.ts'
import { helmPath, type RunningOperator, type Stage, setStage } from './support/stage.ts'

describe.skipIf(helmPath === undefined)('the operator (skipped where there is no helm)', () => {
  let stage: Stage
  let operator: RunningOperator
  // Other suites may use the same cluster.
  const run = randomBytes(3).toString('hex')

  beforeAll(async () => {
    stage = await setStage()
    operator = await stage.startOperator()
  })
  afterAll(() => stage?.close())

  const tenant = (name: string) => ({ reference: `Tenant-${name}-${run}` })
  const releaseOf = (name: string, instance = 'eu1') => ({
    namespace: `tenant-${name}-${run}`,
    name: `log-collector-${instance}`,
  })

  async function create(name: string, yaml: string, parts: CollectorParts = {}): Promise<void> {
    const { namespace } = stage
    const { metadata, ...collector } = collectorOf({
      ...parts,
      collector: { name: 'log-collector', configuration: configuration(yaml), ...parts.collector },
      tenant: { ...tenant(name), ...parts.tenant },
    })
    const written = { ...collector, metadata: { name, namespace, ...parts.metadata } }
    await stage.client.create(Collectors, written)
    stage.cluster.removeAtClose(`/api/v1/namespaces/${collector.spec.tenant.reference.toLowerCase()}`)
  }

  async function configure(name: string, yaml: string): Promise<void> {
    await patch(name, { collector: { configuration: configuration(yaml) } })
  }

  async function patch(name: string, spec: object): Promise<void> {
    const key = { namespace: stage.namespace, name }
    await stage.client.patch(Collectors, key, { type: 'merge', patch: { spec } })
  }

  async function remove(name: string): Promise<void> {
    await stage.client.delete(Collectors, { namespace: stage.namespace, name })
  }

  async function isGone(name: string): Promise<boolean> {
    return stage.client.get(Collectors, { namespace: stage.namespace, name }).then(() => false, isNotFound)
  }

  const degraded = ({ status }: Collector) =>
    getCondition(status?.conditions as Parameters<typeof getCondition>[0], 'Degraded')
  const statuses = async (name: string, instance?: string) =>
    (await readReleases(stage.client, releaseOf(name, instance))).map(({ status }) => status)

  test('installs, upgrades, refuses bad values, recovers and cleans up, as helm sees it', async () => {
    const { client, helm } = stage
    await create('acme', 'replicas: 1')
    const { status } = await stage.untilPhase('acme', 'Available', 1)
    expect(status).toMatchObject({ releaseName: 'log-collector-eu1', chart: 'log-collector-1.0.0', revision: 1 })
    const { namespace } = releaseOf('acme')
    expect(await helm.list({ namespace })).toMatchObject([
      { name: 'log-collector-eu1', revision: 1, status: 'deployed' },
    ])
    expect(await helm.values(releaseOf('acme'))).toEqual({ replicas: 1 })
    const { metadata } = await client.get(Namespaces, { name: namespace })
    expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'collector-operator' })

    await configure('acme', 'replicas: 2')
    const upgraded = await stage.untilPhase('acme', 'Available', 2)
    expect(upgraded.status?.valuesDigest).not.toBe(status?.valuesDigest)
    expect((await client.get(Deployments, releaseOf('acme'))).status?.availableReplicas).toBe(2)

    await configure('acme', 'replicas: many')
    const refused = await stage.untilPhase('acme', 'Degraded')
    expect(degraded(refused)).toMatchObject({ reason: 'HelmValuesRefused', message: expect.stringMatching(/replicas/) })
    expect(refused.status).toMatchObject({ revision: 2, lastFailure: { attempts: 1 } })
    expect((await client.get(Deployments, releaseOf('acme'))).spec?.replicas).toBe(2)

    await patch('acme', { collector: { configuration: 'no base64' } })
    const invalid = await stage.untilPhase('acme', 'Degraded')
    await stage.until(
      async () =>
        degraded(await client.get(Collectors, { namespace: stage.namespace, name: 'acme' }))?.reason === 'InvalidSpec',
    )
    expect(invalid.status?.revision).toBe(2)

    await configure('acme', 'replicas: 3')
    expect((await stage.untilPhase('acme', 'Available', 3)).status?.lastFailure).toBeUndefined()
    await remove('acme')
    await stage.until(() => isGone('acme'))
    expect(await statuses('acme')).toEqual([])
    await expect(client.get(Deployments, releaseOf('acme'))).rejects.toSatisfy(isNotFound)
  })

  test('starts no helm at all while nothing changes', async () => {
    await create('calm', 'replicas: 0')
    await stage.untilPhase('calm', 'Available', 1)
    const before = operator.commands.length
    await stage.client.patch(
      Collectors,
      { namespace: stage.namespace, name: 'calm' },
      { type: 'merge', patch: { metadata: { annotations: { a: 'b' } }, spec: { rollback: { onFailure: false } } } },
    )
    await stage.untilPhase('calm', 'Available', 1)
    expect(operator.commands).toHaveLength(before)
  })

  test('undoes what somebody changed by hand', async () => {
    await create('hand', 'replicas: 0')
    await stage.untilPhase('hand', 'Available', 1)
    await stage.helm.upgrade(releaseOf('hand'), { path: `${stage.charts}/log-collector` }, { values: { replicas: 1 } })
    await stage.untilPhase('hand', 'Available', 3)
    expect(await stage.helm.values(releaseOf('hand'))).toEqual({ replicas: 0 })
  })

  test('leaves a release alone that it did not make', async () => {
    const release = releaseOf('stranger')
    const chart = { path: `${stage.charts}/log-collector` }
    await stage.helm.install(release, chart, { values: { replicas: 0 }, createNamespace: true })
    await create('stranger', 'replicas: 1')
    expect(degraded(await stage.untilPhase('stranger', 'Degraded'))).toMatchObject({ reason: 'ReleaseNotOwned' })
    await remove('stranger')
    await stage.until(() => isGone('stranger'))
    expect(await statuses('stranger')).toEqual(['deployed'])
  })

  test('gives a release to the older of two that claim it, and to the other when that goes', async () => {
    await create('first', 'replicas: 0', { tenant: tenant('shared') })
    await stage.untilPhase('first', 'Available', 1)
    await create('second', 'replicas: 1', { tenant: tenant('shared') })
    const claimed = degraded(await stage.untilPhase('second', 'Degraded'))
    expect(claimed?.message).toContain(`belongs to the older Collector ${stage.namespace}/first`)
    await remove('first')
    await stage.untilPhase('second', 'Available', 1)
    expect(await stage.helm.values(releaseOf('shared'))).toEqual({ replicas: 1 })
  })

  test('moves a release: the new one comes up before the old one goes', async () => {
    await create('mover', 'replicas: 1')
    await stage.untilPhase('mover', 'Available', 1)
    await patch('mover', { tenant: { instance: 'us1' } })
    await stage.until(async () => (await statuses('mover')).length === 0)
    expect(await statuses('mover', 'us1')).toEqual(['deployed'])
    const { status } = await stage.untilPhase('mover', 'Available', 1)
    expect(status?.releaseName).toBe('log-collector-us1')
  })

  /** Writes into an object of the release, as `kubectl edit` would. */
  async function edit(name: string, replicas: number): Promise<void> {
    const patch = { spec: { replicas } }
    await stage.client.patch(Deployments, releaseOf(name), { type: 'merge', patch }, { fieldManager: 'kubectl-edit' })
  }

  test('puts right what is missing or was changed when it should heal', async () => {
    await create('drift', 'replicas: 0', { spec: { drift: 'Heal' } })
    await stage.untilPhase('drift', 'Available', 1)
    await stage.client.delete(Services, releaseOf('drift'))
    await stage.untilPhase('drift', 'Available', 2)
    expect((await stage.client.get(Services, releaseOf('drift'))).metadata.name).toBe('log-collector-eu1')
    await edit('drift', 2)
    await stage.untilPhase('drift', 'Available', 3)
    expect((await stage.client.get(Deployments, releaseOf('drift'))).spec?.replicas).toBe(0)
  })

  test('only says what is missing or was changed when it should not heal, and leaves autoscalers alone', async () => {
    await create('told', 'replicas: 1')
    await stage.untilPhase('told', 'Available', 1)
    const scale = { type: 'merge', patch: { spec: { replicas: 2 } } } as const
    const autoscaler = { subresource: 'scale', fieldManager: 'kube-controller-manager' }
    await stage.client.patch(Deployments, releaseOf('told'), scale, autoscaler)
    await stage.until(
      async () => (await stage.client.get(Deployments, releaseOf('told'))).status?.availableReplicas === 2,
    )
    await stage.untilPhase('told', 'Available', 1)
    const image = { spec: { template: { spec: { containers: [{ name: 'collector', image: 'mine:1' }] } } } }
    await stage.client.patch(Deployments, releaseOf('told'), { type: 'strategic', patch: image })
    expect(degraded(await stage.untilPhase('told', 'Degraded', 1))).toMatchObject({
      reason: 'Drifted',
      message: expect.stringMatching(/Deployment .*\(spec\.template\.spec\.containers\[name=collector\]\.image\)/),
    })
    expect(await statuses('told')).toEqual(['deployed'])
  })

  test('notices changes of objects that it does not watch', async () => {
    await create('secret', 'replicas: 0', { spec: { drift: 'Heal' } })
    await stage.untilPhase('secret', 'Available', 1)
    const patch = { stringData: { 'config.yaml': 'mine' } }
    await stage.client.patch(Secrets, releaseOf('secret'), { type: 'merge', patch })
    await operator.stop()
    operator = await stage.startOperator()
    await stage.untilPhase('secret', 'Available', 2)
    const { data } = await stage.client.get(Secrets, releaseOf('secret'))
    expect(Buffer.from(data?.['config.yaml'] ?? '', 'base64').toString()).toContain('{}')
  })

  test('cleans up what was deleted while it was down, and finishes what it was stopped in', async () => {
    await create('gone', 'replicas: 0')
    await stage.untilPhase('gone', 'Available', 1)
    await operator.stop()
    await remove('gone')
    await create('cut', 'replicas: 0')
    const interrupted = await stage.startOperator(({ args }, stop) => {
      if (args[0] === 'install') stop()
    })
    await stage.until(async () => interrupted.commands.some(([verb]) => verb === 'install'))
    await interrupted.stop()
    operator = await stage.startOperator()
    await stage.untilPhase('cut', 'Available')
    await stage.until(() => isGone('gone'))
    expect(await statuses('gone')).toEqual([])
    expect((await statuses('cut')).at(-1)).toBe('deployed')
  })
})
