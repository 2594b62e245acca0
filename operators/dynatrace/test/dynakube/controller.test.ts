/** A DynaKube from its creation to its deletion, in a cluster in process and against a simulated tenant. */
import { ConfigMaps, DaemonSets, type KubeObject, type Resource, Secrets, Services, StatefulSets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FULL_SPEC } from '../../src/api/testing/full-spec.ts'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { DynaKubes } from '../../src/index.ts'
import { NAMESPACE, type Stage, setStage } from './support/stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await setStage(['full', 'untold'])
})
afterAll(() => stage?.[Symbol.asyncDispose]())

async function owned(uid: string | undefined): Promise<readonly string[]> {
  const kinds: readonly Resource[] = [ConfigMaps, Secrets, Services, DaemonSets, StatefulSets]
  const lists = await Promise.all(kinds.map((kind) => stage.client.list(kind, { namespace: NAMESPACE })))
  return lists
    .flatMap(({ items }) => items as readonly KubeObject[])
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.controller))
    .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
    .sort()
}

const hasPhase = (name: string, phase: string) => async () => (await stage.read(name)).status?.phase === phase

describe('a DynaKube with everything', () => {
  it('gets all its objects in one reconcile', async () => {
    const { metadata } = await stage.create('full', FULL_SPEC)
    // Gateways take a minute and a half until they are ready: the test does not wait for that.
    await stage.until(hasPhase('full', 'Deploying'))
    expect(await owned(metadata.uid)).toEqual([
      'ConfigMap/dynatrace-otlp-api-endpoint',
      'ConfigMap/full-activegate-connection-info',
      'ConfigMap/full-deployment-metadata',
      'ConfigMap/full-oneagent-connection-info',
      'ConfigMap/full-telemetry-collector-config',
      'DaemonSet/full-node-config-collector',
      'DaemonSet/full-oneagent',
      'Secret/full-activegate-authtoken-secret',
      'Secret/full-activegate-tenant-secret',
      'Secret/full-activegate-tls-secret',
      'Secret/full-bootstrapper-certs',
      'Secret/full-bootstrapper-config',
      'Secret/full-extension-controller-tls',
      'Secret/full-extensions-token',
      'Secret/full-kspm-token',
      'Secret/full-oneagent-tenant-secret',
      'Secret/full-pull-secret',
      'Service/full-activegate',
      'Service/full-extension-controller',
      'Service/full-telemetry-ingest',
      'StatefulSet/full-activegate',
      'StatefulSet/full-extension-controller',
      'StatefulSet/full-otel-collector',
    ])
    const [first] = stage.records.filter(({ key: { name } }) => name === 'full')
    const made = first?.writes.filter(({ verb }) => verb === 'create').map(({ kind, name }) => `${kind}/${name}`)
    expect(made).toEqual(expect.arrayContaining([...(await owned(metadata.uid))]))
    const { status } = await stage.read('full')
    expect(status?.oneAgent?.connectionInfoStatus?.tenantUUID).toBe('full')
    expect(
      status?.conditions?.filter((one) => one.status !== 'True').map(({ type, reason }) => [type, reason]),
    ).toEqual([['Ready', 'Deploying']])
    const set = await stage.client.get(DaemonSets, { namespace: NAMESPACE, name: 'full-oneagent' })
    expect(set.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'dynatrace.com/v1beta6',
        kind: 'DynaKube',
        name: 'full',
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
  })

  it('has agents that are started once: everything in their pods is known before', async () => {
    const { metadata } = await stage.client.get(DaemonSets, { namespace: NAMESPACE, name: 'full-oneagent' })
    expect(metadata.generation).toBe(1)
  })

  it('costs no write and no call once it runs', async () => {
    await stage.until(async () => (await stage.reconcile('full')).writes.length === 0)
    stage.simulator.clearCalls()
    expect((await stage.reconcile('full')).writes).toEqual([])
    expect(stage.simulator.calls()).toEqual([])
  })

  it('removes only what is disabled', async () => {
    const off = { extensions: null, telemetryIngest: null, kspm: null, logMonitoring: null, activeGate: null }
    const { metadata } = await stage.edit('full', { spec: off })
    await stage.until(async () => (await owned(metadata.uid)).length === 7)
    expect(await owned(metadata.uid)).toEqual([
      'ConfigMap/full-deployment-metadata',
      'ConfigMap/full-oneagent-connection-info',
      'DaemonSet/full-oneagent',
      'Secret/full-bootstrapper-certs',
      'Secret/full-bootstrapper-config',
      'Secret/full-oneagent-tenant-secret',
      'Secret/full-pull-secret',
    ])
    await stage.until(async () => (await stage.condition('full', 'ActiveGateStatefulSet')) === undefined)
    expect((await stage.read('full')).status?.activeGate ?? {}).toEqual({})
  })

  it('takes everything with it', async () => {
    const { metadata } = await stage.read('full')
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'full' })
    await stage.until(async () => (await owned(metadata.uid)).length === 0)
  })
})

describe('tokens', () => {
  it('that are missing are named, and nothing is called', async () => {
    stage.simulator.clearCalls()
    await stage.create('untold', { oneAgent: { hostMonitoring: {} }, tokens: 'nothing' })
    await stage.until(hasPhase('untold', 'Error'))
    expect(await stage.condition('untold', 'Tokens')).toMatchObject({
      status: 'False',
      reason: 'TokenError',
      message: 'the Secret dynatrace/nothing does not exist; create it with the key apiToken',
    })
    expect(stage.simulator.calls()).toEqual([])
  })

  it('are noticed when they come', async () => {
    await stage.client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: NAMESPACE, name: 'nothing' },
      data: encodeSecret({ apiToken: stage.simulator.tenant('untold').tokens.get('apiToken')?.value ?? '' }),
    })
    await stage.until(async () => (await stage.condition('untold', 'Tokens'))?.reason === 'TokenReady')
    expect((await stage.read('untold')).status?.phase).not.toBe('Error')
  })
})
