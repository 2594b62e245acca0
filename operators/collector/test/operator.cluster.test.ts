/** The life of Collectors with the real helm, on the embedded or a real cluster. */
import { Deployments, isNotFound, Namespaces, Secrets, Services } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Collector, Collectors } from '../src/index.ts'
import { configuration } from '../src/testing/collector.ts'
import { helmPath, helms, isDryRun, type RunningOperator, type Stage, setStage } from './support/stage.ts'
import { condition, Tenants } from './support/tenants.ts'

describe.skipIf(helmPath === undefined).each(helms)('the operator with $name', ({ path }) => {
  let stage: Stage
  let operator: RunningOperator
  let tenants: Tenants

  beforeAll(async () => {
    stage = await setStage(path)
    tenants = new Tenants(stage)
    operator = await stage.startOperator()
  })
  afterAll(() => stage?.close())

  /** The helm commands about the releases of a Collector. Others may have their own at the same time. */
  const commandsOf = (name: string) => {
    const { namespace } = tenants.releaseOf(name)
    return operator.commands.filter((args) => args.includes(`--namespace=${namespace}`))
  }
  const degraded = (collector: Collector) => condition(collector, 'Degraded')

  test.concurrent('installs, upgrades, rejects invalid values, recovers and uninstalls, as helm shows', async () => {
    const { client, helm } = stage
    await tenants.create('acme', 'replicas: 1')
    const { status } = await stage.untilPhase('acme', 'Available', 1)
    expect(status).toMatchObject({ releaseName: 'log-collector-eu1', chart: 'log-collector-1.0.0', revision: 1 })
    const { namespace } = tenants.releaseOf('acme')
    expect(await helm.list({ namespace })).toMatchObject([
      { name: 'log-collector-eu1', revision: 1, status: 'deployed' },
    ])
    expect(await helm.values(tenants.releaseOf('acme'))).toEqual({ replicas: 1 })
    const { metadata } = await client.get(Namespaces, { name: namespace })
    expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'collector-operator' })

    await tenants.configure('acme', 'replicas: 2')
    const upgraded = await stage.untilPhase('acme', 'Available', 2)
    expect(upgraded.status?.valuesDigest).not.toBe(status?.valuesDigest)
    expect((await client.get(Deployments, tenants.releaseOf('acme'))).status?.availableReplicas).toBe(2)

    await tenants.configure('acme', 'replicas: many')
    const refused = await stage.untilPhase('acme', 'Degraded')
    expect(degraded(refused)).toMatchObject({
      reason: 'HelmValuesRefused',
      message: expect.stringMatching(/replicas/),
    })
    expect(refused.status).toMatchObject({ revision: 2, lastFailure: { attempts: 1 } })
    expect((await client.get(Deployments, tenants.releaseOf('acme'))).spec?.replicas).toBe(2)

    await tenants.patch('acme', { collector: { configuration: 'no base64' } })
    expect(await tenants.untilReason('acme', 'Degraded', 'InvalidSpec')).toMatch(
      /spec\.collector\.configuration: .* encode/,
    )
    expect((await tenants.get('acme')).status?.revision).toBe(2)
    expect(await tenants.statuses('acme')).toEqual(['superseded', 'deployed'])

    await stage.until(async () => (await tenants.events('acme')).some(({ reason }) => reason === 'InvalidSpec'))
    const warnings = (await tenants.events('acme')).filter(({ type }) => type === 'Warning')
    expect(warnings.map(({ reason, count }) => `${reason} ${count}`).sort()).toEqual([
      'HelmValuesRefused 1',
      'InvalidSpec 1',
    ])

    await tenants.configure('acme', 'replicas: 3')
    expect((await stage.untilPhase('acme', 'Available', 3)).status?.lastFailure).toBeUndefined()
    await tenants.remove('acme')
    await stage.until(() => tenants.isGone('acme'))
    expect(await tenants.statuses('acme')).toEqual([])
    await expect(client.get(Deployments, tenants.releaseOf('acme'))).rejects.toSatisfy(isNotFound)
  })

  test.concurrent('starts no helm at all while nothing changes', async () => {
    await tenants.create('calm', 'replicas: 0')
    await stage.untilPhase('calm', 'Available', 1)
    const before = commandsOf('calm').length
    await stage.client.patch(
      Collectors,
      { namespace: stage.namespace, name: 'calm' },
      { type: 'merge', patch: { metadata: { annotations: { a: 'b' } }, spec: { rollback: { onFailure: false } } } },
    )
    await stage.untilPhase('calm', 'Available', 1)
    expect(commandsOf('calm')).toHaveLength(before)
  })

  test.concurrent('reverts an upgrade that was made manually', async () => {
    await tenants.create('hand', 'replicas: 0')
    await stage.untilPhase('hand', 'Available', 1)
    // A check in the middle of the upgrade would find drift, or wait until the command must have ended.
    await tenants.patch('hand', { suspend: true })
    await stage.untilPhase('hand', 'Suspended', 1)
    const release = tenants.releaseOf('hand')
    await stage.helm.upgrade(release, { path: `${stage.charts}/log-collector` }, { values: { replicas: 1 } })
    await tenants.patch('hand', { suspend: false })
    await stage.untilPhase('hand', 'Available', 3)
    expect(await stage.helm.values(release)).toEqual({ replicas: 0 })
    await stage.until(async () => (await tenants.events('hand')).some(({ note }) => note.includes('manually')))
  })

  test.concurrent('does not change a release that the operator did not create', async () => {
    const release = tenants.releaseOf('stranger')
    const chart = { path: `${stage.charts}/log-collector` }
    await stage.helm.install(release, chart, { values: { replicas: 0 }, createNamespace: true })
    await stage.grantAccount(release.namespace)
    await tenants.create('stranger', 'replicas: 1')
    expect(degraded(await stage.untilPhase('stranger', 'Degraded'))).toMatchObject({ reason: 'ReleaseNotOwned' })
    await tenants.remove('stranger')
    await stage.until(() => tenants.isGone('stranger'))
    expect(await tenants.statuses('stranger')).toEqual(['deployed'])
  })

  test.concurrent('gives a release to the older of two Collectors, and to the other one when that is deleted', async () => {
    await tenants.create('first', 'replicas: 0', { tenant: { reference: tenants.reference('shared') } })
    await stage.untilPhase('first', 'Available', 1)
    await tenants.create('second', 'replicas: 1', { tenant: { reference: tenants.reference('shared') } })
    const claimed = degraded(await stage.untilPhase('second', 'Degraded'))
    expect(claimed?.message).toContain(`belongs to the older Collector ${stage.namespace}/first`)
    await tenants.remove('first')
    await stage.untilPhase('second', 'Available', 1)
    expect(await stage.helm.values(tenants.releaseOf('shared'))).toEqual({ replicas: 1 })
  })

  test.concurrent('moves a release: the new one is available before the old one is uninstalled', async () => {
    await tenants.create('mover', 'replicas: 1')
    await stage.untilPhase('mover', 'Available', 1)
    const before = commandsOf('mover').length
    await tenants.patch('mover', { tenant: { instance: 'us1' } })
    await stage.until(async () => (await tenants.statuses('mover')).length === 0)
    expect(await tenants.statuses('mover', 'us1')).toEqual(['deployed'])
    const { status } = await stage.untilPhase('mover', 'Available', 1)
    expect(status?.releaseName).toBe('log-collector-us1')
    const changes = commandsOf('mover')
      .slice(before)
      .filter((args) => !isDryRun(args))
    expect(changes.map(([verb, name]) => `${verb} ${name}`)).toEqual([
      'install log-collector-us1',
      'uninstall log-collector-eu1',
    ])
  })

  test.concurrent('does not change the release of a suspended Collector until it is resumed', async () => {
    await tenants.create('pause', 'replicas: 0')
    await stage.untilPhase('pause', 'Available', 1)
    const before = commandsOf('pause').length
    await tenants.patch('pause', { suspend: true, collector: { configuration: configuration('replicas: 1') } })
    await stage.untilPhase('pause', 'Suspended', 1)
    await edit('pause', 2)
    // Not even a move uninstalls it.
    await tenants.patch('pause', { tenant: { instance: 'us1' } })
    await stage.untilPhase('pause', 'Suspended')
    expect(await tenants.statuses('pause')).toEqual(['deployed'])
    expect(commandsOf('pause')).toHaveLength(before)
    await tenants.patch('pause', { suspend: false })
    await stage.until(async () => (await tenants.statuses('pause')).length === 0)
    await stage.untilPhase('pause', 'Available', 1)
    expect(await stage.helm.values(tenants.releaseOf('pause', 'us1'))).toEqual({ replicas: 1 })
    await tenants.patch('pause', { suspend: true })
    await stage.untilPhase('pause', 'Suspended', 1)
    await tenants.remove('pause')
    await stage.until(() => tenants.isGone('pause'))
    expect(await tenants.statuses('pause', 'us1')).toEqual([])
  })

  /** Writes into an object of the release, as `kubectl edit` would. */
  async function edit(name: string, replicas: number): Promise<void> {
    const patch = { spec: { replicas } }
    await stage.client.patch(
      Deployments,
      tenants.releaseOf(name),
      { type: 'merge', patch },
      { fieldManager: 'kubectl-edit' },
    )
  }

  test.concurrent('restores objects that are missing or were changed when it should heal', async () => {
    await tenants.create('drift', 'replicas: 0', { spec: { drift: 'Heal' } })
    await stage.untilPhase('drift', 'Available', 1)
    await stage.client.delete(Services, tenants.releaseOf('drift'))
    await stage.untilPhase('drift', 'Available', 2)
    expect((await stage.client.get(Services, tenants.releaseOf('drift'))).metadata.name).toBe('log-collector-eu1')
    await edit('drift', 2)
    await stage.untilPhase('drift', 'Available', 3)
    expect((await stage.client.get(Deployments, tenants.releaseOf('drift'))).spec?.replicas).toBe(0)
  })

  test.concurrent('only reports drift when it should not heal, and does not interfere with autoscalers', async () => {
    // The server writes 500m and 1Gi.
    await tenants.create('reported', 'replicas: 1\nresources: {limits: {cpu: 0.5, memory: 1024Mi}}')
    await stage.untilPhase('reported', 'Available', 1)
    const scale = { type: 'merge', patch: { spec: { replicas: 2 } } } as const
    const autoscaler = { subresource: 'scale', fieldManager: 'kube-controller-manager' }
    await stage.client.patch(Deployments, tenants.releaseOf('reported'), scale, autoscaler)
    await stage.until(
      async () => (await stage.client.get(Deployments, tenants.releaseOf('reported'))).status?.availableReplicas === 2,
    )
    await stage.untilPhase('reported', 'Available', 1)
    const image = { spec: { template: { spec: { containers: [{ name: 'collector', image: 'mine:1' }] } } } }
    await stage.client.patch(Deployments, tenants.releaseOf('reported'), { type: 'strategic', patch: image })
    expect(degraded(await stage.untilPhase('reported', 'Degraded', 1))).toMatchObject({
      reason: 'Drifted',
      message: expect.stringMatching(/Deployment .*\(spec\.template\.spec\.containers\[name=collector\]\.image\)/),
    })
    expect(await tenants.statuses('reported')).toEqual(['deployed'])
  })

  test('detects changes of objects other than workloads after a restart', async () => {
    await tenants.create('secret', 'replicas: 0', { spec: { drift: 'Heal' } })
    await stage.untilPhase('secret', 'Available', 1)
    const patch = { stringData: { 'config.yaml': 'mine' } }
    await stage.client.patch(Secrets, tenants.releaseOf('secret'), { type: 'merge', patch })
    await operator.stop()
    operator = await stage.startOperator()
    await stage.untilPhase('secret', 'Available', 2)
    const { data } = await stage.client.get(Secrets, tenants.releaseOf('secret'))
    expect(Buffer.from(data?.['config.yaml'] ?? '', 'base64').toString()).toContain('{}')
  })

  test('cleans up what was deleted while it was down, and completes an interrupted install', async () => {
    await tenants.create('gone', 'replicas: 0')
    await stage.untilPhase('gone', 'Available', 1)
    await operator.stop()
    await tenants.remove('gone')
    await tenants.create('cut', 'replicas: 0')
    const interrupted = await stage.startOperator({
      onProcess({ args }, stop) {
        if (args[0] === 'install' && !isDryRun(args)) stop()
      },
    })
    await stage.until(async () => interrupted.commands.some((args) => args[0] === 'install' && !isDryRun(args)))
    await interrupted.stop()
    // No helm process is running anymore: no need to wait for its deadline.
    operator = await stage.startOperator({ staleAfterMs: 1_000 })
    await stage.untilPhase('cut', 'Available')
    await stage.until(() => tenants.isGone('gone'))
    expect(await tenants.statuses('gone')).toEqual([])
    expect((await tenants.statuses('cut')).at(-1)).toBe('deployed')
  })
})
