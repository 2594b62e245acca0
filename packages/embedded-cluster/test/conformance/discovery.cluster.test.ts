/** Discovery: version, health, groups, resources, schemas. */
import { beforeAll, describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { failure } from './support/status.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** Groups and versions in the order in which clients try them. */
const GROUPS: readonly (readonly [string, ...string[]])[] = [
  ['apiregistration.k8s.io', 'v1'],
  ['apps', 'v1'],
  ['events.k8s.io', 'v1'],
  ['authentication.k8s.io', 'v1'],
  ['authorization.k8s.io', 'v1'],
  ['autoscaling', 'v2', 'v1'],
  ['batch', 'v1'],
  ['certificates.k8s.io', 'v1'],
  ['networking.k8s.io', 'v1'],
  ['policy', 'v1'],
  ['rbac.authorization.k8s.io', 'v1'],
  ['storage.k8s.io', 'v1'],
  ['admissionregistration.k8s.io', 'v1'],
  ['apiextensions.k8s.io', 'v1'],
  ['scheduling.k8s.io', 'v1'],
  ['coordination.k8s.io', 'v1'],
  ['node.k8s.io', 'v1'],
  ['discovery.k8s.io', 'v1'],
  ['resource.k8s.io', 'v1'],
  ['flowcontrol.apiserver.k8s.io', 'v1'],
]
const isBuiltIn = (name: string) => GROUPS.some(([group]) => group === name)

describe('the version', () => {
  it('is that of Kubernetes 1.35', async () => {
    const { status, body } = await api.get('/version')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      major: '1',
      minor: '35',
      gitVersion: expect.stringMatching(/^v1\.35\.\d+/),
      platform: expect.stringMatching(/^\w+\/\w+$/),
    })
  })
})

describe('health', () => {
  it.each(['/healthz', '/livez', '/readyz'])('of %s is a single word', async (path) => {
    const { status, headers, text } = await api.get(path)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(text).toBe('ok')
  })

  it.each(['healthz', 'livez', 'readyz'])('of /%s lists its checks on request', async (name) => {
    const { status, text } = await api.get(`/${name}?verbose`)
    expect(status).toBe(200)
    const lines = text.trimEnd().split('\n')
    expect(lines).toContain('[+]ping ok')
    expect(lines.at(-1)).toBe(`${name} check passed`)
  })

  it('can be limited to one check, or exclude one', async () => {
    expect((await api.get('/livez/ping')).text).toBe('ok')
    expect((await api.get('/readyz?verbose&exclude=ping')).text).toContain('[+]ping excluded: ok\n')
  })
})

describe('legacy discovery', () => {
  it('lists the versions of the core group', async () => {
    const { status, body } = await api.get('/api')
    expect(status).toBe(200)
    expect(body).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [
        { clientCIDR: '0.0.0.0/0', serverAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/) },
      ],
    })
  })

  it('lists the groups in order of preference', async () => {
    const { body } = await api.get('/apis')
    expect(body).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' })
    const groups = body.groups.map(({ name, versions }: Json) => [
      name,
      ...versions.map(({ version }: Json) => version),
    ])
    expect(groups.filter(([name]: string[]) => isBuiltIn(name ?? ''))).toEqual(GROUPS)
  })

  it('lists the versions of a group and the preferred one', async () => {
    const versions = ['v2', 'v1'].map((version) => ({ groupVersion: `autoscaling/${version}`, version }))
    for (const path of ['/apis/autoscaling', '/apis/autoscaling/']) {
      expect((await api.get(path)).body).toEqual({
        kind: 'APIGroup',
        apiVersion: 'v1',
        name: 'autoscaling',
        versions,
        preferredVersion: versions[0],
      })
    }
  })

  it.each<[string, Json[]]>([
    [
      '/api/v1',
      [
        { name: 'bindings', singularName: 'binding', namespaced: true, kind: 'Binding', verbs: ['create'] },
        {
          name: 'pods',
          singularName: 'pod',
          namespaced: true,
          kind: 'Pod',
          verbs: ALL_VERBS,
          shortNames: ['po'],
          categories: ['all'],
          storageVersionHash: 'xPOwRZ+Yhw8=',
        },
        { name: 'pods/log', singularName: '', namespaced: true, kind: 'Pod', verbs: ['get'] },
        {
          name: 'pods/eviction',
          singularName: '',
          namespaced: true,
          group: 'policy',
          version: 'v1',
          kind: 'Eviction',
          verbs: ['create'],
        },
        {
          name: 'namespaces',
          singularName: 'namespace',
          namespaced: false,
          kind: 'Namespace',
          verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
          shortNames: ['ns'],
          storageVersionHash: 'Q3oi5N2YM8M=',
        },
      ],
    ],
    [
      '/apis/apps/v1',
      [
        {
          name: 'deployments/scale',
          singularName: '',
          namespaced: true,
          group: 'autoscaling',
          version: 'v1',
          kind: 'Scale',
          verbs: ['get', 'patch', 'update'],
        },
        {
          name: 'deployments/status',
          singularName: '',
          namespaced: true,
          kind: 'Deployment',
          verbs: ['get', 'patch', 'update'],
        },
      ],
    ],
  ])('of %s describes resources and subresources', async (path, expected) => {
    const { body } = await api.get(path)
    expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion: path.replace(/^\/apis?\//, '') })
    for (const resource of expected) expect(body.resources).toContainEqual(resource)
    const names = body.resources.map(({ name }: Json) => name)
    expect(names).toEqual([...names].sort())
  })

  it('must not be cached', async () => {
    for (const path of ['/api', '/apis', '/apis/apps', '/apis/apps/v1']) {
      const { headers } = await api.get(path)
      expect(headers['cache-control']).toBe('no-cache, private')
      expect(headers).not.toHaveProperty('etag')
    }
  })

  it('can be read as YAML', async () => {
    const { status, headers, text } = await api.get('/apis/apps', { accept: 'application/yaml' })
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/yaml')
    expect(text).toContain('name: apps\npreferredVersion:\n  groupVersion: apps/v1\n')
  })

  it.each(['/api', '/apis', '/apis/apps', '/apis/apps/v1'])('of %s does not support HTML', async (path) => {
    const { status, body } = await api.get(path, { accept: 'text/html' })
    expect(status).toBe(406)
    expect(body).toMatchObject({ kind: 'Status', reason: 'NotAcceptable', code: 406 })
  })
})

describe('aggregated discovery', () => {
  const ask = (path: string, accept = AGGREGATED, headers = {}) => api.get(path, { accept, ...headers })

  it('lists everything in one response', async () => {
    const { status, headers, body } = await ask('/apis')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe(AGGREGATED)
    expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' })
    const groups = body.items
      .filter(({ metadata }: Json) => isBuiltIn(metadata.name))
      .map(({ metadata, versions }: Json) => [metadata.name, ...versions.map(({ version }: Json) => version)])
    expect(groups).toEqual(GROUPS)
    for (const { versions } of body.items) {
      for (const version of versions) expect(version.freshness).toBe('Current')
    }
  })

  it('describes a resource with its subresources', async () => {
    const { body } = await ask('/apis')
    const apps = body.items.find(({ metadata }: Json) => metadata.name === 'apps')
    expect(apps.versions[0].resources).toContainEqual({
      resource: 'deployments',
      responseKind: { group: '', version: '', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      verbs: ALL_VERBS,
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['get', 'patch', 'update'],
        },
        {
          subresource: 'status',
          responseKind: { group: '', version: '', kind: 'Deployment' },
          verbs: ['get', 'patch', 'update'],
        },
      ],
    })
  })

  it('of the core group has its own path', async () => {
    const { body } = await ask('/api')
    expect(body.items).toHaveLength(1)
    expect(body.items[0].versions).toMatchObject([{ version: 'v1', freshness: 'Current' }])
  })

  it.each(['/api', '/apis'])('of %s is not sent again to clients that have it', async (path) => {
    const { headers } = await ask(path)
    expect(headers.etag).toMatch(/^"[0-9A-F]{128}"$/)
    expect(headers).toMatchObject({ vary: 'Accept', 'cache-control': 'public' })
    const again = await ask(path, AGGREGATED, { 'if-none-match': String(headers.etag) })
    expect(again.status).toBe(304)
    expect(again.text).toBe('')
    expect(again.headers.etag).toBe(headers.etag)
    expect((await ask(path, AGGREGATED, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  it.each([
    ['before plain JSON', `${AGGREGATED},application/json`, AGGREGATED],
    ['after plain JSON', `application/json,${AGGREGATED}`, AGGREGATED],
    ['in an unknown version', `${AGGREGATED.replace('v=v2', 'v=v9')},application/json`, 'application/json'],
  ])('requested %s', async (_, accept, expected) => {
    expect((await ask('/apis', accept)).headers['content-type']).toBe(expected)
  })

  it('only in an unknown version is rejected', async () => {
    const { status, body } = await ask('/apis', AGGREGATED.replace('v=v2', 'v=v9'))
    expect(status).toBe(406)
    expect(body).toEqual(
      failure({
        code: 406,
        reason: 'NotAcceptable',
        message:
          'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      }),
    )
  })

  it('and legacy discovery list the same resources', async () => {
    const { body } = await ask('/apis')
    for (const { metadata, versions } of body.items) {
      for (const { version, resources } of versions) {
        const legacy = (await api.get(`/apis/${metadata.name}/${version}`)).body.resources
        const names = legacy.map(({ name }: Json) => name).filter((name: string) => !name.includes('/'))
        expect(resources.map(({ resource }: Json) => resource).sort()).toEqual(names.sort())
      }
    }
  })
})

describe('OpenAPI', () => {
  let paths: Json
  beforeAll(async () => {
    paths = JSON.parse((await api.get('/openapi/v3')).text).paths
  })

  it('has one document per group and version', () => {
    const expected = ['api/v1', ...GROUPS.flatMap(([group, ...versions]) => versions.map((v) => `apis/${group}/${v}`))]
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(expected))
    expect(paths['apis/apps/v1'].serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/)
  })

  it('describes a kind, its fields and how its lists are merged', async () => {
    const { status, headers, body } = await api.get(paths['apis/apps/v1'].serverRelativeURL)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json')
    expect(body.openapi).toBe('3.0.0')
    const { schemas } = body.components
    expect(schemas['io.k8s.api.apps.v1.Deployment']).toMatchObject({
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'Deployment', version: 'v1' }],
    })
    expect(schemas['io.k8s.api.core.v1.PodSpec'].properties.containers).toMatchObject({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
    })
  })

  it('lists the parameters of a patch', async () => {
    const { body } = await api.get('/openapi/v3/apis/apps/v1')
    const { patch } = body.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']
    expect(patch).toMatchObject({
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' },
    })
    expect(patch.parameters.map(({ name }: Json) => name)).toEqual([
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
    ])
  })

  it('may be cached forever under its hash', async () => {
    const pinned = await api.get(paths['api/v1'].serverRelativeURL)
    expect(pinned.headers['cache-control']).toBe('public, immutable')
    expect(pinned.headers.etag).toMatch(/^"[0-9A-F]{128}"$/)
    expect((await api.get('/openapi/v3/api/v1')).headers['cache-control']).toBe('no-cache, private')
  })

  it('under another hash redirects', async () => {
    const { status, headers } = await api.get('/openapi/v3/api/v1?hash=00')
    expect(status).toBe(301)
    expect(headers.location).toBe(paths['api/v1'].serverRelativeURL)
  })

  it('is not sent again to clients that have it', async () => {
    const { headers } = await api.get(paths['api/v1'].serverRelativeURL)
    const again = await api.get('/openapi/v3/api/v1', { 'if-none-match': String(headers.etag) })
    expect(again.status).toBe(304)
    expect(again.text).toBe('')
  })

  it('of an unknown group does not exist', async () => {
    const { status, text } = await api.get('/openapi/v3/apis/nope.example.com/v1')
    expect(status).toBe(404)
    expect(text).toBe('')
  })
})

describe('the OpenAPI document of version 2', () => {
  const document = async () => (await api.get('/openapi/v2')).body

  it('has the definitions and paths of all built-in kinds', async () => {
    const { swagger, definitions, paths } = await document()
    expect(swagger).toBe('2.0')
    expect(definitions['io.k8s.api.core.v1.PodSpec'].properties.containers).toMatchObject({
      type: 'array',
      items: { $ref: '#/definitions/io.k8s.api.core.v1.Container' },
      'x-kubernetes-patch-merge-key': 'name',
    })
    const { patch, get } = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']
    expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', version: 'v1', kind: 'Deployment' })
    expect(get.responses['200'].schema).toEqual({ $ref: '#/definitions/io.k8s.api.apps.v1.Deployment' })
  })

  it('is not sent again to clients that have it', async () => {
    const { status, headers } = await api.get('/openapi/v2')
    expect([status, headers['content-type']]).toEqual([200, 'application/json'])
    expect(headers.etag).toMatch(/^"[0-9A-F]{128}"$/)
    const again = await api.get('/openapi/v2', { 'if-none-match': String(headers.etag) })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  it('has a custom resource while it is served, without what version 2 cannot express', async () => {
    const group = `${unique('published')}.example.com`
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: widgetSchema } },
          { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: openSchema } },
        ],
      },
    }
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
    await api.create(path, definition)
    const name = `com.example.${group.split('.')[0]}.v1.Widget`
    const published = await until('it is published', async () => {
      const { definitions } = await document()
      return definitions[name] === undefined ? undefined : definitions
    })
    expect(published[name].properties.spec).toEqual({
      type: 'object',
      description: 'The desired state.',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        either: { description: 'Nothing.' },
        open: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    })
    expect(published[name].properties.metadata.$ref).toBe(
      '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    )
    expect(published[name.replace('v1', 'v2')]).toEqual({
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group, version: 'v2', kind: 'Widget' }],
    })
    expect(published[`${name}List`].properties.items.items).toEqual({ $ref: `#/definitions/${name}` })
    await api.delete(`${path}/widgets.${group}`)
    await until('it is removed', async () => (await document()).definitions[name] === undefined)
  })
})

const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      description: 'The desired state.',
      required: ['size', 'either'],
      properties: {
        size: { type: 'integer', minimum: 1, default: 3, anyOf: [{ minimum: 1 }] },
        either: { type: 'object', nullable: true, description: 'Nothing.', properties: { a: { type: 'string' } } },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
}
const openSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
