/** Objects that were changed manually, that cannot be changed, or that are no longer desired. */
import { ConfigMaps, DaemonSets, Namespaces, Secrets, type StatefulSet, StatefulSets, type Stored } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKube, DynaKubeSpec } from '../../src/api/latest.ts'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { DynaKubes } from '../../src/index.ts'
import { find, key, secretData, settled, WITHOUT_KEY } from './support/questions.ts'
import { type Stage, setStage, tokensOf } from './support/stage.ts'

const TEMPLATE_HASH = 'internal.operator.dynatrace.com/template-hash'
const CLAIMS_HASH = 'internal.operator.dynatrace.com/pvc-hash'

let stage: Stage
beforeAll(async () => {
  stage = await setStage(['edited', 'claimed', 'selecting', 'taken', 'pulled', 'proxied', 'direct', 'leaving'])
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const hosts: Partial<DynaKubeSpec> = { oneAgent: { hostMonitoring: {} } }
const gateway: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['routing'] } }
const merge = (patch: Readonly<Record<string, unknown>>) => ({ type: 'merge', patch }) as const

describe('an object that was changed manually', () => {
  const read = () => stage.client.get(DaemonSets, key('edited-oneagent'))

  it('is reverted to the desired state', async () => {
    await stage.create('edited', hosts)
    await settled(stage, 'edited')
    const before = await read()
    const container = before.spec?.template?.spec?.containers[0]
    const containers = [{ ...container, image: 'registry.example.com/other:1' }]
    await stage.client.patch(
      DaemonSets,
      key('edited-oneagent'),
      merge({ spec: { template: { spec: { containers } } } }),
    )
    await stage.until(async () => {
      return (await read()).spec?.template?.spec?.containers[0]?.image === container?.image
    })
    expect((await read()).metadata.uid).toBe(before.metadata.uid)
  })

  it('gets back its mark', async () => {
    const hash = (await read()).metadata.annotations?.[TEMPLATE_HASH]
    expect(hash).toMatch(/^\d+$/)
    const annotations = { [TEMPLATE_HASH]: null }
    await stage.client.patch(DaemonSets, key('edited-oneagent'), merge({ metadata: { annotations } }))
    await stage.until(async () => (await read()).metadata.annotations?.[TEMPLATE_HASH] === hash)
  })

  it('keeps what the operator has no opinion about', async () => {
    const labels = { 'example.com/theirs': 'yes' }
    await stage.client.patch(DaemonSets, key('edited-oneagent'), merge({ metadata: { labels } }))
    await stage.reconcile('edited')
    await stage.reconcile('edited')
    expect((await read()).metadata.labels).toMatchObject(labels)
  })

  it('is restored immediately, also without a call of the tenant', async () => {
    const before = await secretData(stage, 'edited-pull-secret')
    const data = encodeSecret({ '.dockerconfigjson': '{}' })
    await stage.client.patch(Secrets, key('edited-pull-secret'), merge({ data }))
    stage.simulator.clearCalls()
    await stage.until(async () => {
      return (await secretData(stage, 'edited-pull-secret'))?.['.dockerconfigjson'] !== '{}'
    })
    expect(await secretData(stage, 'edited-pull-secret')).toEqual(before)
    expect(Object.keys(JSON.parse(before?.['.dockerconfigjson'] ?? '').auths)).toEqual([stage.simulator.authority])
    expect(stage.simulator.calls()).toEqual([])
  })
})

describe('a StatefulSet', () => {
  const name = 'claimed-activegate'
  const withClaim = (storage: string): Partial<DynaKubeSpec> => ({
    activeGate: {
      capabilities: ['routing'],
      volumeClaimTemplate: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    },
  })
  const isOther = (before: StatefulSet | undefined) => async () => {
    const { metadata } = (await find(stage, StatefulSets, name)) ?? {}
    return metadata !== undefined && metadata.uid !== before?.metadata.uid
  }

  it('whose claims change is recreated', async () => {
    await stage.create('claimed', withClaim('1Gi'), WITHOUT_KEY)
    await settled(stage, 'claimed')
    const before = await find(stage, StatefulSets, name)
    expect(before?.metadata.annotations?.[CLAIMS_HASH]).toBe('257705630')
    await stage.edit('claimed', { spec: withClaim('2Gi') })
    await stage.until(isOther(before))
    const after = await find(stage, StatefulSets, name)
    expect(after?.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.storage).toBe('2Gi')
    expect(after?.metadata.annotations?.[CLAIMS_HASH]).not.toBe('257705630')
  })

  it('whose selector differs is recreated', async () => {
    const labels = { app: 'former' }
    await inheriting('selecting', gateway, (owner) => ({
      ...former('selecting-activegate', owner),
      spec: {
        serviceName: '',
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'former', image: 'former' }] } },
      },
    }))
    await stage.until(async () => {
      const { spec } = (await find(stage, StatefulSets, 'selecting-activegate')) ?? {}
      return spec !== undefined && spec.selector?.matchLabels?.app === undefined
    })
  })

  it('of an earlier release is adopted unchanged', async () => {
    const spec = withClaim('1Gi')
    await stage.edit('claimed', { spec })
    await stage.until(async () => {
      return (await find(stage, StatefulSets, name))?.metadata.annotations?.[CLAIMS_HASH] === '257705630'
    })
    // As another release writes it: its own mark, and nothing of how this one keeps its books.
    const { metadata, spec: rendered } = JSON.parse(
      JSON.stringify(await stage.client.get(StatefulSets, key(name))).replaceAll('claimed', 'taken'),
    )
    const annotations = { [CLAIMS_HASH]: '257705630', [TEMPLATE_HASH]: '1' }
    const before = await inheriting('taken', spec, (owner) => ({
      ...former('taken-activegate', owner),
      metadata: { ...former('taken-activegate', owner).metadata, labels: metadata.labels, annotations },
      spec: rendered,
    }))
    await settled(stage, 'taken')
    const after = await find(stage, StatefulSets, 'taken-activegate')
    expect(after?.metadata.uid).toBe(before.metadata.uid)
    expect(after?.metadata.annotations?.[TEMPLATE_HASH]).not.toBe('1')
    expect(after?.metadata.annotations?.[CLAIMS_HASH]).toBe('257705630')
  })
})

const former = (name: string, owner: DynaKube) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: {
    ...key(name),
    ownerReferences: [
      {
        apiVersion: 'dynatrace.com/v1beta6',
        kind: 'DynaKube',
        name: owner.metadata.name ?? '',
        uid: owner.metadata.uid ?? '',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
})

/** Creates a DynaKube that has a StatefulSet before the operator can make one: its tokens come last. */
async function inheriting(
  name: string,
  spec: Partial<DynaKubeSpec>,
  made: (owner: DynaKube) => StatefulSet,
): Promise<Stored<StatefulSet>> {
  const owner = await stage.create(name, { ...spec, tokens: `${name}-later` }, WITHOUT_KEY)
  const set = await stage.client.create(StatefulSets, made(owner), { fieldManager: 'former-release' })
  const { data = {} } = await stage.client.get(Secrets, key(tokensOf(name)))
  await stage.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: key(`${name}-later`), data })
  return set
}

describe('the pull secret', () => {
  it('is not written while nothing changed, and immediately when the token did', async () => {
    const version = async () => (await find(stage, Secrets, 'edited-pull-secret'))?.metadata.resourceVersion
    const before = await version()
    expect((await stage.reconcile('edited')).writes).toEqual([])
    expect(await version()).toBe(before)
    const { tokens } = stage.simulator.tenant('edited')
    tokens.add({ name: 'paasToken', scopes: ['InstallerDownload'] })
    const data = encodeSecret({ paasToken: tokens.get('paasToken')?.value ?? '' })
    await stage.client.patch(Secrets, key(tokensOf('edited')), merge({ data }))
    await stage.until(async () => (await version()) !== before)
    const { '.dockerconfigjson': config = '' } = (await secretData(stage, 'edited-pull-secret')) ?? {}
    expect(config).toContain(tokens.get('paasToken')?.value)
  })

  it('is deleted with the last component that pulls, in any order', async () => {
    await stage.create('pulled', { ...hosts, ...gateway }, WITHOUT_KEY)
    await settled(stage, 'pulled')
    expect(await find(stage, Secrets, 'pulled-pull-secret')).toBeDefined()
    const isGone = async () => (await find(stage, Secrets, 'pulled-pull-secret')) === undefined
    const isUntold = async () => (await stage.condition('pulled', 'PullSecret')) === undefined
    await stage.edit('pulled', { spec: { activeGate: null } })
    await stage.until(async () => (await find(stage, StatefulSets, 'pulled-activegate')) === undefined)
    expect(await isGone()).toBe(false)
    await stage.edit('pulled', { spec: { oneAgent: null } })
    await stage.until(isGone)
    await stage.until(isUntold)
    await stage.edit('pulled', { spec: gateway })
    await stage.until(async () => !(await isGone()))
    await stage.edit('pulled', { spec: { activeGate: null } })
    await stage.until(isGone)
  })
})

describe('the proxy', () => {
  it('is a Secret for each DynaKube with a proxy', async () => {
    // Only agents use it, so that the operator itself is not stopped by a proxy that does not exist.
    const proxy = { value: 'user:pw@proxy.example.com:3128' }
    const noProxy = { 'feature.dynatrace.com/no-proxy': '127.0.0.1,localhost' }
    await stage.create('proxied', { ...hosts, proxy }, noProxy)
    await settled(stage, 'proxied')
    await stage.create('direct', hosts)
    await settled(stage, 'direct')
    await stage.reconcile('direct')
    expect(await find(stage, Secrets, 'direct-internal-proxy')).toBeUndefined()
    expect(await secretData(stage, 'proxied-internal-proxy')).toEqual({
      scheme: 'http',
      host: 'proxy.example.com',
      port: '3128',
      username: 'user',
      password: 'pw',
    })
    await stage.edit('proxied', { spec: { proxy: null } })
    await stage.until(async () => (await find(stage, Secrets, 'proxied-internal-proxy')) === undefined)
  })
})

describe('a namespace', () => {
  const COPIES = [
    'dynatrace-bootstrapper-certs',
    'dynatrace-bootstrapper-config',
    'dynatrace-otlp-exporter-certs',
    'dynatrace-otlp-exporter-config',
  ]
  const copiesIn = async (namespace: string) => {
    const { items } = await stage.client.list(Secrets, { namespace })
    return items.map(({ metadata }) => metadata.name).sort()
  }

  it('that is being deleted gets nothing, without an error', async () => {
    const labels = { team: 'leaving' }
    const namespaceSelector = { matchLabels: labels }
    for (const name of ['staying', 'going']) {
      await stage.client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
    }
    await stage.client.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'going', name: 'held', finalizers: ['example.com/held'] },
    })
    await stage.client.delete(Namespaces, { name: 'going' })
    await stage.create('leaving', {
      oneAgent: { applicationMonitoring: { namespaceSelector } },
      otlpExporterConfiguration: { namespaceSelector, signals: { logs: {} } },
    })
    await settled(stage, 'leaving')
    expect(await copiesIn('staying')).toEqual(COPIES)
    expect((await stage.client.get(Namespaces, { name: 'going' })).metadata.deletionTimestamp).toBeDefined()
    expect(await copiesIn('going')).toEqual([])
    expect((await stage.reconcile('leaving')).outcome).toBe('requeue_after')
    const patch = [{ op: 'remove', path: '/metadata/finalizers' }] as const
    await stage.client.patch(ConfigMaps, { namespace: 'going', name: 'held' }, { type: 'json', patch })
  })

  it('is restored when its DynaKube is deleted', async () => {
    const instance = 'dynakube.internal.dynatrace.com/instance'
    const read = async () => (await stage.client.get(Namespaces, { name: 'staying' })).metadata
    expect((await read()).labels).toMatchObject({ [instance]: 'leaving' })
    await stage.client.delete(DynaKubes, key('leaving'))
    await stage.until(async () => (await read()).labels?.[instance] === undefined)
    expect(await copiesIn('staying')).toEqual([])
    // A signal to the webhook, which removes it; no webhook runs here.
    expect((await read()).annotations).toMatchObject({ 'dynatrace.com/updated-via-operator': 'true' })
  })

  it('is restored although its DynaKube was deleted while no operator was running', async () => {
    const labels = { 'dynakube.internal.dynatrace.com/instance': 'long-gone' }
    await stage.client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'forgotten' } })
    const metadata = { namespace: 'forgotten', name: 'dynatrace-bootstrapper-config' }
    await stage.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata })
    await stage.client.patch(Namespaces, { name: 'forgotten' }, merge({ metadata: { labels } }))
    await stage.until(async () => {
      const { metadata: left } = await stage.client.get(Namespaces, { name: 'forgotten' })
      return Object.keys(left.labels ?? {}).every((name) => !(name in labels))
    })
  })
})
