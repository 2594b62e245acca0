/** Tables, which `kubectl get` prints, and objects reduced to their metadata. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments, pod, pods, podTemplate } from './support/objects.ts'
import { failure } from './support/status.ts'
import { until } from './support/until.ts'
import { WatchStream } from './support/watch-stream.ts'

const api = ConformanceApi.forThisFile()
const TABLE = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }
const PARTIAL = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }
const PARTIAL_LIST = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }
const AGE = /^\d+s$|^\d+m(\d+s)?$/
const core = (resource: string) => `/api/v1/namespaces/NS/${resource}`
const group = (name: string, resource: string) => `/apis/${name}/namespaces/NS/${resource}`
const template = podTemplate('table', {
  spec: {
    containers: [
      { name: 'one', image: 'first:1' },
      { name: 'two', image: 'second:2' },
    ],
  },
})
const onlyOnce = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } }
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }

/** Columns as `Name` or, if only `-o wide` shows them, `(Name)`. */
function columnsOf(table: Json): string {
  return table.columnDefinitions.map(({ name, priority }: Json) => (priority === 0 ? name : `(${name})`)).join(' | ')
}

/** The cells of a row, with ages as `AGE`. */
function cellsOf(row: Json): Json[] {
  return row.cells.map((cell: Json) => (typeof cell === 'string' && AGE.test(cell) ? 'AGE' : cell))
}

interface Case {
  readonly collection: string
  readonly object: Json
  readonly columns: string
  /** Without the name, which is the first cell. */
  readonly cells: readonly Json[]
}

const cases: readonly Case[] = [
  {
    collection: core('configmaps'),
    object: { data: { a: '1', b: '2' }, binaryData: { c: 'eA==' } },
    columns: 'Name | Data | Age',
    cells: [3, 'AGE'],
  },
  {
    collection: core('secrets'),
    object: { type: 'example.com/key', data: { a: 'eA==' } },
    columns: 'Name | Type | Data | Age',
    cells: ['example.com/key', 1, 'AGE'],
  },
  { collection: core('serviceaccounts'), object: {}, columns: 'Name | Age', cells: ['AGE'] },
  {
    collection: core('services'),
    object: {
      spec: {
        clusterIP: 'None',
        ports: [
          { port: 80, name: 'http' },
          { port: 53, protocol: 'UDP', name: 'dns' },
        ],
        selector: { app: 'nobody' },
      },
    },
    columns: 'Name | Type | Cluster-IP | External-IP | Port(s) | Age | (Selector)',
    cells: ['ClusterIP', 'None', '<none>', '80/TCP,53/UDP', 'AGE', 'app=nobody'],
  },
  {
    collection: core('persistentvolumeclaims'),
    object: {
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'nope', resources: { requests: { storage: '1Gi' } } },
    },
    columns:
      'Name | Status | Volume | Capacity | Access Modes | StorageClass | VolumeAttributesClass | Age | (VolumeMode)',
    cells: ['Pending', '', '', '', 'nope', '<unset>', 'AGE', 'Filesystem'],
  },
  {
    collection: core('pods'),
    object: { spec: { ...template.spec, schedulerName: 'nobody' } },
    columns: 'Name | Ready | Status | Restarts | Age | (IP) | (Node) | (Nominated Node) | (Readiness Gates)',
    cells: ['0/2', 'Pending', '0', 'AGE', '<none>', '<none>', '<none>', '<none>'],
  },
  {
    collection: core('podtemplates'),
    object: { template },
    columns: 'Name | Containers | Images | Pod Labels',
    cells: ['one,two', 'first:1,second:2', 'app=table'],
  },
  {
    collection: core('replicationcontrollers'),
    object: { spec: { replicas: 0, selector: { app: 'table' }, template } },
    columns: 'Name | Desired | Current | Ready | Age | (Containers) | (Images) | (Selector)',
    cells: [0, 0, 0, 'AGE', 'one,two', 'first:1,second:2', 'app=table'],
  },
  {
    collection: core('events'),
    object: {
      involvedObject: { kind: 'Pod', namespace: 'NS', name: 'p' },
      reason: 'Why',
      message: 'a text',
      type: 'Normal',
      source: { component: 'tester' },
      count: 3,
      firstTimestamp: 'NOW',
      lastTimestamp: 'NOW',
    },
    columns: 'Last Seen | Type | Reason | Object | (Subobject) | (Source) | Message | (First Seen) | (Count) | (Name)',
    cells: ['AGE', 'Normal', 'Why', 'pod/p', '', 'tester', 'a text', 'AGE', 3],
  },
  {
    collection: group('apps/v1', 'deployments'),
    object: { spec: { replicas: 0, selector: { matchLabels: { app: 'table' } }, template } },
    columns: 'Name | Ready | Up-to-date | Available | Age | (Containers) | (Images) | (Selector)',
    cells: ['0/0', 0, 0, 'AGE', 'one,two', 'first:1,second:2', 'app=table'],
  },
  {
    collection: group('apps/v1', 'statefulsets'),
    object: { spec: { replicas: 0, selector: { matchLabels: { app: 'table' } }, template } },
    columns: 'Name | Ready | Age | (Containers) | (Images)',
    cells: ['0/0', 'AGE', 'one,two', 'first:1,second:2'],
  },
  {
    collection: group('apps/v1', 'replicasets'),
    object: { spec: { replicas: 0, selector: { matchLabels: { app: 'table' } }, template } },
    columns: 'Name | Desired | Current | Ready | Age | (Containers) | (Images) | (Selector)',
    cells: [0, 0, 0, 'AGE', 'one,two', 'first:1,second:2', 'app=table'],
  },
  {
    collection: group('apps/v1', 'daemonsets'),
    object: {
      spec: {
        selector: { matchLabels: { app: 'table' } },
        template: { ...template, spec: { ...template.spec, nodeSelector: { no: 'node' } } },
      },
    },
    columns:
      'Name | Desired | Current | Ready | Up-to-date | Available | Node Selector | Age | (Containers) | (Images) | (Selector)',
    cells: [0, 0, 0, 0, 0, 'no=node', 'AGE', 'one,two', 'first:1,second:2', 'app=table'],
  },
  {
    collection: group('batch/v1', 'cronjobs'),
    object: { spec: { suspend: true, schedule: '0 0 1 1 *', jobTemplate: { spec: { template: onlyOnce } } } },
    columns:
      'Name | Schedule | Timezone | Suspend | Active | Last Schedule | Age | (Containers) | (Images) | (Selector)',
    cells: ['0 0 1 1 *', '<none>', 'True', 0, '<none>', 'AGE', 'one,two', 'first:1,second:2', '<none>'],
  },
  {
    collection: group('networking.k8s.io/v1', 'ingresses'),
    object: {
      spec: {
        ingressClassName: 'nope',
        defaultBackend: { service: { name: 'x', port: { number: 80 } } },
        rules: [{ host: 'a.example.com' }],
        tls: [{ hosts: ['a.example.com'] }],
      },
    },
    columns: 'Name | Class | Hosts | Address | Ports | Age',
    cells: ['nope', 'a.example.com', '', '80, 443', 'AGE'],
  },
  {
    collection: group('networking.k8s.io/v1', 'networkpolicies'),
    object: { spec: { podSelector: { matchLabels: { app: 'table' } } } },
    columns: 'Name | Pod-Selector | Age',
    cells: ['app=table', 'AGE'],
  },
  {
    collection: group('policy/v1', 'poddisruptionbudgets'),
    object: { spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'nobody' } } } },
    columns: 'Name | Min Available | Max Unavailable | Allowed Disruptions | Age',
    cells: ['N/A', '1', 0, 'AGE'],
  },
  {
    collection: group('discovery.k8s.io/v1', 'endpointslices'),
    object: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80, name: 'p' }] },
    columns: 'Name | AddressType | Ports | Endpoints | Age',
    cells: ['IPv4', '80', '10.0.0.1', 'AGE'],
  },
  {
    collection: group('coordination.k8s.io/v1', 'leases'),
    object: { spec: { holderIdentity: 'me' } },
    columns: 'Name | Holder | Age',
    cells: ['me', 'AGE'],
  },
  {
    collection: group('rbac.authorization.k8s.io/v1', 'rolebindings'),
    object: {
      roleRef,
      subjects: [
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 'sa', namespace: 'NS' },
      ],
    },
    columns: 'Name | Role | Age | (Users) | (Groups) | (ServiceAccounts)',
    cells: ['Role/r', 'AGE', 'u', '', 'NS/sa'],
  },
  {
    collection: group('rbac.authorization.k8s.io/v1', 'roles'),
    object: { rules: [] },
    columns: 'Name | Created At',
    cells: [expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)],
  },
  {
    collection: '/apis/storage.k8s.io/v1/storageclasses',
    object: { provisioner: 'example.com/p' },
    columns: 'Name | Provisioner | ReclaimPolicy | VolumeBindingMode | AllowVolumeExpansion | Age',
    cells: ['example.com/p', 'Delete', 'Immediate', false, 'AGE'],
  },
  {
    collection: '/apis/scheduling.k8s.io/v1/priorityclasses',
    object: { value: 5 },
    columns: 'Name | Value | Global-Default | Age | PreemptionPolicy',
    cells: [5, false, 'AGE', 'PreemptLowerPriority'],
  },
  {
    collection: '/apis/networking.k8s.io/v1/ingressclasses',
    object: { spec: { controller: 'example.com/c' } },
    columns: 'Name | Controller | Parameters | Age',
    cells: ['example.com/c', '<none>', 'AGE'],
  },
]

describe('the table of', () => {
  /** Puts the namespace and the time where the case left room for them. */
  const inPlace = (value: Json): Json =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll('"NS"', `"${api.namespace}"`)
        .replaceAll('NS/', `${api.namespace}/`)
        .replaceAll('"NOW"', `"${new Date().toISOString().slice(0, 19)}Z"`),
    )

  it.each(cases.map((one) => [one.collection.split('/').at(-1) ?? '', one] as const))('%s', async (_, one) => {
    const collection = one.collection.replace('NS', api.namespace)
    const { metadata } = await api.create(collection, { ...inPlace(one.object), metadata: { name: unique('row') } })
    const { status, body } = await api.get(`${collection}/${metadata.name}`, TABLE)
    expect(status).toBe(200)
    expect(columnsOf(body)).toBe(one.columns)
    const isNameFirst = body.columnDefinitions[0].name === 'Name'
    const expected = one.cells.map((cell) =>
      typeof cell === 'string' ? cell.replace('NS/', `${api.namespace}/`) : cell,
    )
    expect(cellsOf(body.rows[0])).toEqual(isNameFirst ? [metadata.name, ...expected] : [...expected, metadata.name])
    if (!collection.includes('/namespaces/')) await api.delete(`${collection}/${metadata.name}`)
  })

  it('nodes and namespaces shows their status', async () => {
    const node = (await api.get('/api/v1/nodes/node-1', TABLE)).body
    expect(columnsOf(node)).toBe(
      'Name | Status | Roles | Age | Version | (Internal-IP) | (External-IP) | (OS-Image) | (Kernel-Version) | (Container-Runtime)',
    )
    expect(cellsOf(node.rows[0]).slice(0, 4)).toEqual(['node-1', 'Ready', '<none>', 'AGE'])
    const namespace = (await api.get(`/api/v1/namespaces/${api.namespace}`, TABLE)).body
    expect(columnsOf(namespace)).toBe('Name | Status | Age')
    expect(cellsOf(namespace.rows[0])).toEqual([api.namespace, 'Active', 'AGE'])
  })

  it('a running and of a completed pod shows both', async () => {
    const running = await api.create(pods(api.namespace), pod(unique('running')))
    const ended = await api.create(pods(api.namespace), pod(unique('ended'), { spec: { restartPolicy: 'Never' } }))
    const row = async ({ metadata }: Json) => {
      const { body } = await api.get(`${pods(api.namespace)}/${metadata.name}`, TABLE)
      return body.rows[0]
    }
    await until('the pod is ready', async () => (await row(running)).cells[1] === '1/1')
    expect(cellsOf(await row(running)).slice(1, 5)).toEqual(['1/1', 'Running', '0', 'AGE'])
    await until('the pod has ended', async () => (await row(ended)).cells[2] === 'Completed')
    expect(cellsOf(await row(ended)).slice(1, 5)).toEqual(['0/1', 'Completed', '0', 'AGE'])
    expect((await row(ended)).conditions).toEqual([
      { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
    ])
  })
})

describe('a table', () => {
  it('has columns with names, types and priorities', async () => {
    const { body } = await api.get(`${configMaps(api.namespace)}/kube-root-ca.crt`, TABLE)
    expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' })
    expect(body.columnDefinitions).toMatchObject([
      { name: 'Name', type: 'string', format: 'name', priority: 0, description: expect.any(String) },
      { name: 'Data', type: 'string', format: '', priority: 0 },
      { name: 'Age', type: 'string', format: '', priority: 0 },
    ])
  })

  it('of a list has a row per object and the metadata of the list', async () => {
    const label = unique('label')
    for (const name of ['a', 'b', 'c']) {
      await api.create(configMaps(api.namespace), configMap(`${label}-${name}`, { metadata: { labels: { label } } }))
    }
    const { body } = await api.get(`${configMaps(api.namespace)}?labelSelector=label%3D${label}&limit=2`, TABLE)
    expect(body.rows.map(({ cells }: Json) => cells[0])).toEqual([`${label}-a`, `${label}-b`])
    expect(body.metadata).toEqual({ resourceVersion: expect.any(String), continue: expect.any(String) })
  })

  it.each<[string, Json]>([
    ['', { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }],
    ['Metadata', { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }],
    ['Object', { kind: 'ConfigMap', apiVersion: 'v1' }],
  ])('includes the object in each row according to includeObject=%s', async (include, type) => {
    const { body } = await api.get(`${configMaps(api.namespace)}/kube-root-ca.crt?includeObject=${include}`, TABLE)
    expect(body.rows[0].object).toMatchObject({ ...type, metadata: { name: 'kube-root-ca.crt' } })
    expect('data' in body.rows[0].object).toBe(include === 'Object')
  })

  it('includes nothing on request', async () => {
    const { body } = await api.get(`${configMaps(api.namespace)}/kube-root-ca.crt?includeObject=None`, TABLE)
    expect(body.rows[0].object).toBeNull()
  })

  it('is rejected with an unknown includeObject', async () => {
    const { status, body } = await api.get(`${configMaps(api.namespace)}/kube-root-ca.crt?includeObject=Some`, TABLE)
    expect(status).toBe(400)
    expect(body).toEqual(
      failure({
        code: 400,
        reason: 'BadRequest',
        message:
          "Unable to convert to Table as requested: includeObject: Invalid value: \"Some\": must be 'Metadata', 'Object', 'None', or empty",
      }),
    )
  })

  it('exists in an older version', async () => {
    const accept = TABLE.accept.replace('v=v1', 'v=v1beta1')
    const { body } = await api.get(`${configMaps(api.namespace)}/kube-root-ca.crt`, { accept })
    expect(body.apiVersion).toBe('meta.k8s.io/v1beta1')
  })

  it('can be the response to a write', async () => {
    const name = unique('written')
    const { status, body } = await api.post(configMaps(api.namespace), configMap(name), TABLE)
    expect(status).toBe(201)
    expect(cellsOf(body.rows[0])).toEqual([name, 0, 'AGE'])
  })

  it('is not used for errors', async () => {
    const { status, body } = await api.get(`${configMaps(api.namespace)}/nobody`, TABLE)
    expect(status).toBe(404)
    expect(body.kind).toBe('Status')
  })

  it('in a watch has its columns once', async () => {
    const label = unique('label')
    const query = `labelSelector=label%3D${label}&watch=true`
    const { resourceVersion } = (await api.get(configMaps(api.namespace))).body.metadata
    await using stream = new WatchStream(
      api,
      `${configMaps(api.namespace)}?${query}&resourceVersion=${resourceVersion}`,
      TABLE,
    )
    for (const name of ['a', 'b']) {
      await api.create(configMaps(api.namespace), configMap(`${label}-${name}`, { metadata: { labels: { label } } }))
    }
    const [first, second] = await stream.take(2)
    expect(first).toMatchObject({ type: 'ADDED', object: { kind: 'Table' } })
    expect(columnsOf(first?.object)).toBe('Name | Data | Age')
    expect(second?.object.columnDefinitions).toBeNull()
    expect(second?.object.rows[0].cells[0]).toBe(`${label}-b`)
  })
})

describe('partial metadata', () => {
  it('can be requested for one object', async () => {
    const created = await api.create(configMaps(api.namespace), configMap(unique('partial'), { data: { k: 'v' } }))
    const { status, body } = await api.get(`${configMaps(api.namespace)}/${created.metadata.name}`, PARTIAL)
    expect(status).toBe(200)
    expect(body).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: created.metadata })
  })

  it('can be requested for a list', async () => {
    const { body } = await api.get(
      `${configMaps(api.namespace)}?fieldSelector=metadata.name%3Dkube-root-ca.crt`,
      PARTIAL_LIST,
    )
    expect(body).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' })
    expect(body.items).toMatchObject([
      { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'kube-root-ca.crt' } },
    ])
    expect(body.items[0]).not.toHaveProperty('data')
  })

  it('can be requested for a watch', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('partial')))
    const path = `${deployments(api.namespace)}?watch=true&fieldSelector=metadata.name%3D${metadata.name}`
    await using stream = new WatchStream(api, path, PARTIAL)
    const { type, object } = await stream.next()
    expect(type).toBe('ADDED')
    expect(object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { uid: metadata.uid } })
    expect(object).not.toHaveProperty('spec')
  })

  it('of initial events ends with a bookmark of the same kind', async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const path = `${configMaps(api.namespace)}?watch=true&labelSelector=nobody&${query}`
    await using stream = new WatchStream(api, path, PARTIAL)
    expect(await stream.next()).toEqual({
      type: 'BOOKMARK',
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: expect.any(String), annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    })
  })

  it.each<[string, string, Json, string]>([
    [
      'a list of one',
      '/kube-root-ca.crt',
      PARTIAL_LIST,
      'PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    ],
    ['one of a list', '', PARTIAL, 'PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)'],
  ])('cannot be %s', async (_, name, headers, message) => {
    const { status, body } = await api.get(`${configMaps(api.namespace)}${name}`, headers)
    expect(status).toBe(406)
    expect(body).toEqual(failure({ code: 406, reason: 'NotAcceptable', message: `you requested ${message}` }))
  })
})
