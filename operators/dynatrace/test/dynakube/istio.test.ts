/** DynaKubes in a cluster with Istio, without it, and in one that gets or loses it. */
import { isNotFound, type KubeObject } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ISTIO_KINDS,
  ServiceEntries,
  VirtualServices,
} from '../../src/controllers/dynakube/components/istio/resources.ts'
import { DynaKubes } from '../../src/index.ts'
import { installIstio, uninstallIstio } from './support/istio-crds.ts'
import { key, WITHOUT_KEY } from './support/questions.ts'
import { NAMESPACE, type Stage, setStage } from './support/stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage(['meshed', 'refused', 'plain'])
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const MESHED = {
  enableIstio: true,
  oneAgent: { applicationMonitoring: {} },
  activeGate: { capabilities: ['routing'] },
}

/** The Istio objects; none if its kinds do not exist. */
async function ofIstio(owner: string): Promise<readonly string[]> {
  try {
    const lists = await Promise.all(
      ISTIO_KINDS.map((kind) => stage.client.list<KubeObject>(kind, { namespace: NAMESPACE })),
    )
    return lists
      .flatMap(({ items }) => items)
      .filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === owner))
      .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
      .sort()
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}
const until = (owner: string, count: number) => stage.until(async () => (await ofIstio(owner)).length === count)
const isRemoved = (name: string, type: string) => async () => (await stage.condition(name, type)) === undefined

describe('without Istio', () => {
  it('a DynaKube that enables it fails before the tenant is called', async () => {
    stage.simulator.tenant('meshed').connectionInfo.endpoints = [
      'https://10.0.0.1:8000/communication',
      'http://x.io/communication',
    ]
    stage.simulator.clearCalls()
    await stage.create('meshed', MESHED, WITHOUT_KEY)
    await stage.until(async () => (await stage.read('meshed')).status?.phase === 'Error')
    const record = stage.records.find(({ error }) => error !== undefined)
    expect(record?.error).toContain('spec.enableIstio is true, but the cluster has no ServiceEntries')
    expect(stage.simulator.calls()).toEqual([])
  })

  it('other DynaKubes do not notice', async () => {
    await stage.create('plain', { activeGate: { capabilities: ['routing'] } }, WITHOUT_KEY)
    await stage.until(async () => (await stage.read('plain')).status?.phase === 'Deploying')
  })
})

describe('with Istio', () => {
  it('the way out is opened without a restart', async () => {
    await installIstio(stage.client)
    await stage.until(async () => (await stage.read('meshed')).status?.phase === 'Deploying')
    expect(await ofIstio('meshed')).toEqual([
      'ServiceEntry/meshed-fqdn-activegate',
      'ServiceEntry/meshed-fqdn-oneagent',
      'ServiceEntry/meshed-ip-activegate',
      'ServiceEntry/meshed-ip-oneagent',
      'ServiceEntry/meshed-ip-operator',
      'VirtualService/meshed-fqdn-activegate',
      'VirtualService/meshed-fqdn-oneagent',
    ])
    const entry = await stage.client.get(ServiceEntries, key('meshed-ip-oneagent'))
    expect(entry.spec).toMatchObject({ addresses: ['10.0.0.1/32'], ports: [{ name: 'TCP-8000' }] })
    expect(entry.metadata.labels).toEqual({
      'app.kubernetes.io/name': 'dynatrace-operator',
      'app.kubernetes.io/created-by': 'meshed',
      'app.kubernetes.io/component': 'oneagent',
      'app.kubernetes.io/version': '1.8.1',
    })
    expect(entry.metadata.annotations).toHaveProperty('internal.operator.dynatrace.com/template-hash')
    for (const type of ['IstioForCodeModule', 'IstioForActiveGate']) {
      expect(await stage.condition('meshed', type)).toMatchObject({ status: 'True', reason: `${type}Changed` })
    }
  })

  it('nothing is written once everything exists', async () => {
    await stage.until(() => stage.records.at(-1)?.writes.length === 0)
    expect((await stage.reconcile('meshed')).writes).toEqual([])
  })

  it('manual changes and deletions are reverted', async () => {
    const patch = { spec: { hosts: ['evil.example.com'] } }
    await stage.client.patch(VirtualServices, key('meshed-fqdn-oneagent'), { type: 'merge', patch })
    await stage.client.delete(ServiceEntries, key('meshed-ip-oneagent'))
    await stage.reconcile('meshed')
    await until('meshed', 7)
    const { spec } = await stage.client.get(VirtualServices, key('meshed-fqdn-oneagent'))
    expect(spec?.hosts).toEqual(['x.io'])
  })

  it('added and removed hosts are followed', async () => {
    stage.simulator.tenant('meshed').connectionInfo.endpoints = ['https://y.io:443/communication']
    stage.advance(16 * 60_000)
    await stage.reconcile('meshed')
    await stage.until(async () => {
      const { spec } = await stage.client.get(ServiceEntries, key('meshed-fqdn-oneagent'))
      return spec?.hosts.join() === 'y.io'
    })
    await until('meshed', 5)
  })

  it('what gateways needed goes with them', async () => {
    await stage.edit('meshed', { spec: { activeGate: null } })
    await stage.until(isRemoved('meshed', 'IstioForActiveGate'))
    expect(await ofIstio('meshed')).toEqual([
      'ServiceEntry/meshed-fqdn-oneagent',
      'ServiceEntry/meshed-ip-operator',
      'VirtualService/meshed-fqdn-oneagent',
    ])
  })

  it('what is switched off is removed, and then costs nothing', async () => {
    await stage.edit('meshed', { spec: { enableIstio: false } })
    await until('meshed', 0)
    await stage.until(isRemoved('meshed', 'IstioForCodeModule'))
    expect((await stage.reconcile('meshed')).writes).toEqual([])
    await stage.edit('meshed', { spec: { enableIstio: true } })
    await until('meshed', 3)
  })

  it('objects of other owners are left unchanged; that is an error for gateways only', async () => {
    const theirSpec = { hosts: ['their.example.com'], ports: [], resolution: 'DNS' } as const
    const theirs = (name: string) =>
      stage.client.create(ServiceEntries, {
        apiVersion: 'networking.istio.io/v1beta1',
        kind: 'ServiceEntry',
        metadata: key(name),
        spec: theirSpec,
      })
    stage.simulator.tenant('refused').connectionInfo.endpoints = ['https://z.io:443/communication']
    await theirs('refused-fqdn-oneagent')
    const namespaceSelector = { matchLabels: { mesh: 'refused' } }
    const spec = { ...MESHED, oneAgent: { applicationMonitoring: { namespaceSelector } } }
    await stage.create('refused', spec, WITHOUT_KEY)
    const hasReason = (type: string) => async () => (await stage.condition('refused', type))?.reason === `${type}Failed`
    await stage.until(hasReason('IstioForCodeModule'))
    expect((await stage.read('refused')).status?.phase).toBe('Deploying')
    await stage.client.delete(ServiceEntries, key('refused-fqdn-activegate'))
    await theirs('refused-fqdn-activegate')
    await stage.reconcile('refused')
    await stage.until(hasReason('IstioForActiveGate'))
    expect((await stage.read('refused')).status?.phase).toBe('Error')
    for (const name of ['refused-fqdn-oneagent', 'refused-fqdn-activegate']) {
      expect((await stage.client.get(ServiceEntries, key(name))).spec).toEqual(theirSpec)
    }
  })

  it('nothing is left of a DynaKube that is deleted', async () => {
    await stage.client.delete(DynaKubes, key('meshed'))
    await until('meshed', 0)
  })
})

it('a cluster that loses Istio is reported only by the DynaKube that enables it', async () => {
  await uninstallIstio(stage.client)
  await stage.reconcile('refused')
  await stage.until(async () => (await stage.read('refused')).status?.phase === 'Error')
  expect((await stage.reconcile('plain')).outcome).toBe('requeue_after')
})
