/** What an API server accepts, refuses and shows of the resources. */
import type { KubeObject, UnknownObject } from '@reeve/kube'
import { ApiError, resource } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dynakube, edgeConnect } from '../src/api/testing/build.ts'
import { type DynaKubeSpec, DynaKubes, EdgeConnects } from '../src/index.ts'
import { type ClusterWithCrds, clusterWithCrds } from './support/cluster-with-crds.ts'

let cluster: ClusterWithCrds
beforeAll(async () => {
  cluster = await clusterWithCrds()
})
afterAll(() => cluster.stop())

let count = 0
const unused = () => `object-${++count}`
const of = (kind: 'DynaKube' | 'EdgeConnect', version: string) =>
  resource<UnknownObject>({
    group: 'dynatrace.com',
    version,
    kind,
    plural: kind === 'DynaKube' ? 'dynakubes' : 'edgeconnects',
    namespaced: true,
  })

/** Why a DynaKube with this spec is refused; empty when it is not. */
async function refusal(spec: object): Promise<string> {
  try {
    // Tests send what the type forbids, to see the server refuse it.
    await cluster.client.create(DynaKubes, dynakube(spec as Partial<DynaKubeSpec>, { name: unused() }))
    return ''
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}

describe('versions', () => {
  it('are served as documented', async () => {
    const { body } = await cluster.get('/apis/dynatrace.com')
    expect(body).toMatchObject({
      versions: ['v1beta6', 'v1beta5', 'v1beta4', 'v1beta3', 'v1alpha2', 'v1alpha1'].map((version) => ({ version })),
    })
  })

  it('that are deprecated can still be written, and read in the stored version', async () => {
    const name = unused()
    const object = {
      apiVersion: 'dynatrace.com/v1beta3',
      kind: 'DynaKube',
      metadata: { namespace: 'dynatrace', name },
      spec: { apiUrl: 'https://tenant.live.example.com/api', oneAgent: { hostMonitoring: { autoUpdate: false } } },
    }
    await cluster.client.create(of('DynaKube', 'v1beta3'), object as UnknownObject)
    const stored = await cluster.client.get(DynaKubes, { namespace: 'dynatrace', name })
    expect(stored.spec.oneAgent).toEqual({ hostMonitoring: {} })
  })
})

describe('the schema of DynaKube', () => {
  it('requires an apiUrl of at most 128 characters', async () => {
    const url = (length: number) => `https://${'a'.repeat(length - 12)}/api`
    expect(await refusal({ apiUrl: undefined })).toContain('spec.apiUrl')
    expect(await refusal({ apiUrl: url(129) })).toContain('spec.apiUrl')
    expect(await refusal({ apiUrl: url(128) })).toBe('')
  })

  it.each([
    ['none', []],
    ['two with the same id', [{ id: 'a' }, { id: 'a' }]],
    ['a long id', [{ id: 'abcdefghi' }]],
    ['an odd id', [{ id: 'A_b' }]],
  ])('requires short and distinct ids of databases, not %s', async (_, databases) => {
    expect(await refusal({ extensions: { databases } })).toContain('spec.extensions.databases')
    expect(await refusal({ extensions: { databases: [{ id: 'db-1' }, { id: 'db-2' }] } })).toBe('')
  })

  it('requires the image of the executor, even if empty', async () => {
    expect(await refusal({ templates: { sqlExtensionExecutor: {} } })).toContain('imageRef')
    expect(await refusal({ templates: { sqlExtensionExecutor: { imageRef: {} } } })).toBe('')
  })

  it('requires unique arguments of agents', async () => {
    expect(await refusal({ oneAgent: { hostMonitoring: { args: ['--a=1', '--a=1'] } } })).toContain('args')
    expect(await refusal({ oneAgent: { hostMonitoring: { args: ['--a=1', '--a=2'] } } })).toBe('')
  })

  it('keeps null modes apart from empty ones', async () => {
    expect(await refusal({ oneAgent: { hostMonitoring: null, classicFullStack: {} } })).toBe('')
  })

  it('admits an object without a spec, which admission refuses', async () => {
    const { spec: _, ...bare } = dynakube({}, { name: unused() })
    await expect(cluster.client.create(of('DynaKube', 'v1beta6'), bare as UnknownObject)).resolves.toBeDefined()
  })
})

describe('conditions', () => {
  const condition = {
    type: 'A',
    status: 'True',
    reason: 'Ready',
    message: '',
    lastTransitionTime: '2030-01-01T00:00:00Z',
  }
  const kinds = [
    ['DynaKube', () => dynakube({}, { name: unused() }), of('DynaKube', 'v1beta6')],
    [
      'EdgeConnect',
      () => ({ ...edgeConnect(), metadata: { namespace: 'dynatrace', name: unused() } }),
      of('EdgeConnect', 'v1alpha2'),
    ],
  ] as const

  it.each(kinds)('of %s exist once per type', async (_, build, kind) => {
    const created = await cluster.client.create<UnknownObject>(kind, build() as KubeObject as UnknownObject)
    const one = await cluster.client.update(
      kind,
      { ...created, status: { conditions: [condition] } },
      { subresource: 'status' },
    )
    const twice = { ...one, status: { conditions: [condition, { ...condition, status: 'False' }] } }
    await expect(cluster.client.update(kind, twice, { subresource: 'status' })).rejects.toMatchObject({ status: 422 })
    const { namespace, name } = created.metadata
    const read = await cluster.client.get(kind, { ...(namespace && { namespace }), name })
    expect((read.status as { readonly conditions: unknown }).conditions).toEqual([condition])
  })

  it.each([{ reason: '' }, { reason: 'two words' }, { status: 'Maybe' }])('are refused with %o', async (odd) => {
    const kind = of('DynaKube', 'v1beta6')
    const created = await cluster.client.create<UnknownObject>(
      kind,
      dynakube({}, { name: unused() }) as KubeObject as UnknownObject,
    )
    const status = { conditions: [{ ...condition, ...odd }] }
    await expect(cluster.client.update(kind, { ...created, status }, { subresource: 'status' })).rejects.toMatchObject({
      status: 422,
    })
  })
})

describe('what a server shows', () => {
  it('EdgeConnect v1alpha1 gets its defaults', async () => {
    const kind = of('EdgeConnect', 'v1alpha1')
    const object = {
      ...edgeConnect(),
      apiVersion: 'dynatrace.com/v1alpha1',
      metadata: { namespace: 'dynatrace', name: unused() },
    }
    const { spec } = await cluster.client.create(kind, object as KubeObject as UnknownObject)
    expect(spec).toMatchObject({ replicas: 1, autoUpdate: true, serviceAccountName: 'dynatrace-edgeconnect' })
    const latest = await cluster.client.get(EdgeConnects, object.metadata)
    expect(latest.status).toEqual({ version: {} })
  })

  it('a DynaKube of an old version has the empty members of the stored one', async () => {
    const object = { ...dynakube({}, { name: unused() }), apiVersion: 'dynatrace.com/v1beta5' }
    const { namespace, name } = await cluster.client
      .create(of('DynaKube', 'v1beta5'), object as KubeObject as UnknownObject)
      .then(({ metadata }) => metadata)
    const { spec, status } = await cluster.client.get(DynaKubes, { ...(namespace && { namespace }), name })
    expect(Object.keys(status ?? {}).sort()).toEqual([
      'activeGate',
      'codeModules',
      'dynatraceApi',
      'kspm',
      'metadataEnrichment',
      'oneAgent',
    ])
    expect(spec.metadataEnrichment).toEqual({ namespaceSelector: {} })
    expect(spec.templates?.sqlExtensionExecutor).toEqual({ imageRef: {} })
  })

  it.each([
    ['dynakubes', 'v1beta4', ['Name', 'ApiUrl', 'Status', 'Age']],
    ['edgeconnects', 'v1alpha2', ['Name', 'ApiServer', 'Status', 'Age']],
  ])('tables of %s have their columns in order, and both are in one category', async (plural, version, columns) => {
    const table = await cluster.get(
      `/apis/dynatrace.com/${version}/namespaces/dynatrace/${plural}`,
      'application/json;as=Table;v=v1;g=meta.k8s.io',
    )
    const { columnDefinitions } = table.body as { readonly columnDefinitions: readonly { readonly name: string }[] }
    expect(columnDefinitions.map(({ name }) => name)).toEqual(columns)
    const { body } = await cluster.get(`/apis/dynatrace.com/${version}`)
    expect(body).toMatchObject({
      resources: expect.arrayContaining([expect.objectContaining({ name: plural, categories: ['dynatrace'] })]),
    })
  })
})
