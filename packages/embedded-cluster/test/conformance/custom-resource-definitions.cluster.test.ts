/** CustomResourceDefinitions: what they define, how they change, and how they are deleted. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type ApiResource, clusterResourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import {
  defineWidgets,
  definitionOf,
  schemaOf,
  uniqueGroup,
  untilServed,
  versionOf,
} from './support/custom-resource.ts'
import { invalid, notFound } from './support/status.ts'
import { until } from './support/until.ts'
import { warningsOf } from './support/warnings.ts'

const api = ConformanceApi.forThisFile()
const definitions = clusterResourceOf(
  api,
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
)

// Every definition takes a real server two seconds, so cases wait for theirs concurrently.
const groupOf = (widgets: ApiResource) => widgets.path().split('/')[2] ?? ''
const conditionsOf = ({ status }: Json): Json =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: is, reason }: Json) => [type, [is, reason]]))

/** Changes a definition and waits until objects are served accordingly. */
async function redefine(widgets: ApiResource, patch: Json, isDone: () => Promise<boolean>): Promise<void> {
  const { status, text } = await definitions.patch('json', `widgets.${groupOf(widgets)}`, patch)
  if (status !== 200) throw new Error(text)
  await until('the definition has changed', isDone)
}

describe.concurrent('a definition', () => {
  it('gets defaults, is accepted and established', async () => {
    const group = uniqueGroup()
    await definitions.given(`widgets.${group}`, definitionOf(group))
    const definition = await until('the definition is established', async () => {
      const { body } = await definitions.get(`widgets.${group}`)
      return conditionsOf(body).Established?.[0] === 'True' && body
    })
    expect(definition.spec).toMatchObject({
      conversion: { strategy: 'None' },
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    })
    expect(conditionsOf(definition)).toEqual({
      NamesAccepted: ['True', 'NoConflicts'],
      Established: ['True', 'InitialNamesAccepted'],
    })
    expect(definition.status.acceptedNames).toEqual(definition.spec.names)
    expect(definition.status.storedVersions).toEqual(['v1'])
  })

  it('adds its resource to discovery', async () => {
    const widgets = await defineWidgets(api, {
      names: { shortNames: ['wd'], categories: ['all'] },
      version: {
        subresources: { status: {}, scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a' } },
      },
    })
    const group = groupOf(widgets)
    const { body } = await api.get(`/apis/${group}/v1`)
    expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion: `${group}/v1` })
    expect(body.resources).toMatchObject([
      {
        name: 'widgets',
        singularName: 'widget',
        namespaced: true,
        kind: 'Widget',
        verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
        shortNames: ['wd'],
        categories: ['all'],
      },
      { name: 'widgets/status', kind: 'Widget', verbs: ['get', 'patch', 'update'] },
      { name: 'widgets/scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
    ])
    const groups = await until('the group is listed', async () => {
      const all: Json[] = (await api.get('/apis')).body.groups
      const own = all.filter(({ name }) => name === group)
      return own.length > 0 && own
    })
    expect(groups).toMatchObject([{ preferredVersion: { groupVersion: `${group}/v1`, version: 'v1' } }])
  })

  it('may be cluster-scoped', async () => {
    const widgets = await defineWidgets(api, { spec: { scope: 'Cluster' } })
    const created = await widgets.create('everywhere', { spec: { a: 'x' } })
    expect(created.status).toBe(201)
    expect(created.body.metadata.namespace).toBeUndefined()
    const { status } = await widgets.at({ namespace: () => api.namespace }).get('everywhere')
    expect(status).toBe(404)
  })

  it('waits for names that another definition has', async () => {
    const group = uniqueGroup()
    await defineWidgets(api, { group, names: { shortNames: ['wd'] } })
    const gadgets = { ...definitionOf(group), metadata: { name: `gadgets.${group}` } }
    gadgets.spec = { ...gadgets.spec, names: { plural: 'gadgets', kind: 'Widget', shortNames: ['wd'] } }
    await api.create(definitions.path(), gadgets)
    const conditions = await until('the names were checked', async () => {
      const found = conditionsOf((await definitions.get(`gadgets.${group}`)).body)
      return found.NamesAccepted !== undefined && found.Established !== undefined && found
    })
    expect(conditions).toEqual({
      NamesAccepted: ['False', expect.stringMatching(/^(KindConflict|ShortNamesConflict|ListKindConflict)$/)],
      Established: ['False', 'NotAccepted'],
    })
    expect((await api.get(`/apis/${group}/v1/gadgets`)).status).toBe(404)
    await definitions.delete(`widgets.${group}`)
    await until('the names were accepted', async () => {
      const found = conditionsOf((await definitions.get(`gadgets.${group}`)).body)
      return found.Established?.[0] === 'True'
    })
  })

  it('cannot change its group, scope or kind', async () => {
    const widgets = await defineWidgets(api)
    const name = `widgets.${groupOf(widgets)}`
    const { body } = await definitions.patch('merge', name, { spec: { scope: 'Cluster' } })
    expect(body).toEqual(
      invalid('CustomResourceDefinition.apiextensions.k8s.io', name, {
        field: 'spec.scope',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "Cluster": field is immutable',
      }),
    )
  })

  it('deletes its instances when it is deleted', async () => {
    const widgets = await defineWidgets(api)
    const name = `widgets.${groupOf(widgets)}`
    await widgets.given('free')
    await widgets.given('held', { metadata: { finalizers: ['example.com/hold'] } })
    expect((await definitions.delete(name)).status).toBe(200)
    const terminating = await until('the deletion has begun', async () => {
      const { body } = await definitions.get(name)
      return conditionsOf(body).Terminating !== undefined && body
    })
    expect(terminating.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io'])
    await until('the one without a finalizer is deleted', async () => (await widgets.get('free')).status === 404)
    const rejected = await widgets.create('late')
    expect(rejected.status).toBe(403)
    expect(rejected.body.message).toContain('create not allowed while custom resource definition is terminating')
    await widgets.patch('merge', 'held', { metadata: { finalizers: null } })
    await until('the definition is deleted', async () => (await definitions.get(name)).status === 404)
    await until('the resource is not served', async () => (await widgets.list()).status === 404)
  })
})

describe.concurrent('defaults', () => {
  it('are set where their object exists', async () => {
    const widgets = await defineWidgets(api, {
      properties: {
        color: { type: 'string', default: 'blue' },
        size: { type: 'object', properties: { width: { type: 'integer', default: 10 } } },
        frame: { type: 'object', default: {}, properties: { width: { type: 'integer', default: 2 } } },
        parts: {
          type: 'array',
          items: { type: 'object', properties: { name: { type: 'string' }, count: { type: 'integer', default: 1 } } },
        },
        named: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
        },
        note: { type: 'string', nullable: true, default: 'none' },
      },
    })
    const { body } = await widgets.create('filled', {
      spec: { size: {}, parts: [{ name: 'a' }, { name: 'b', count: 3 }], named: { x: {} }, note: null, color: null },
    })
    expect(body.spec).toEqual({
      color: 'blue',
      size: { width: 10 },
      frame: { width: 2 },
      parts: [
        { name: 'a', count: 1 },
        { name: 'b', count: 3 },
      ],
      named: { x: { on: true } },
      note: null,
    })
    expect((await widgets.create('bare')).body.spec).toBeUndefined()
  })

  it('of a status are visible as soon as the object exists', async () => {
    const { openAPIV3Schema } = schemaOf({ a: { type: 'string' } })
    openAPIV3Schema.properties.status = {
      type: 'object',
      default: { phase: 'Created' },
      properties: { phase: { type: 'string' } },
    }
    const version = { schema: { openAPIV3Schema }, subresources: { status: {} } }
    const widgets = await defineWidgets(api, { version })
    await widgets.given('fresh', { spec: { a: 'x' } })
    expect((await widgets.get('fresh')).body.status).toEqual({ phase: 'Created' })
    expect((await widgets.list()).body.items).toMatchObject([{ status: { phase: 'Created' } }])
  })

  it('that are added later are visible in existing objects', async () => {
    const widgets = await defineWidgets(api)
    const { metadata } = await widgets.given('older', { spec: { a: 'x' } })
    const color = { type: 'string', default: 'blue' }
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color'
    await redefine(widgets, [{ op: 'add', path, value: color }], async () => {
      const { body } = await widgets.create('probe', { spec: {} }, { query: 'dryRun=All' })
      return body.spec.color === 'blue'
    })
    const { body } = await widgets.get('older')
    expect(body.spec).toEqual({ a: 'x', color: 'blue' })
    expect(body.metadata.resourceVersion).toBe(metadata.resourceVersion)
  })
})

describe.concurrent('a schema that becomes stricter', () => {
  let widgets: ApiResource
  beforeAll(async () => {
    widgets = await defineWidgets(api, { properties: { color: { type: 'string' }, size: { type: 'integer' } } })
    await widgets.given('old', { spec: { color: 'green', size: 1 } })
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color/enum'
    await redefine(widgets, [{ op: 'add', path, value: ['red', 'blue'] }], async () => {
      const { status } = await widgets.create('probe', { spec: { color: 'green' } }, { query: 'dryRun=All' })
      return status === 422
    })
  })

  it('accepts changes of an old object that do not affect the invalid value', async () => {
    expect((await widgets.patch('merge', 'old', { spec: { size: 2 } })).status).toBe(200)
    expect((await widgets.patch('merge', 'old', { metadata: { labels: { a: 'b' } } })).status).toBe(200)
  })

  it('rejects a change from one invalid value to another', async () => {
    const { status, body } = await widgets.patch('merge', 'old', { spec: { color: 'yellow' } })
    expect(status).toBe(422)
    expect(body.details.causes).toEqual([
      {
        reason: 'FieldValueNotSupported',
        message: 'Unsupported value: "yellow": supported values: "red", "blue"',
        field: 'spec.color',
      },
    ])
  })
})

describe.concurrent('a field that was removed from the schema', () => {
  it('is no longer visible', async () => {
    const widgets = await defineWidgets(api, { properties: { a: { type: 'string' }, b: { type: 'string' } } })
    await widgets.given('older', { spec: { a: '1', b: '2' } })
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b'
    await redefine(widgets, [{ op: 'remove', path }], async () => {
      const { body } = await widgets.create('probe', { spec: { b: '2' } }, { query: 'dryRun=All' })
      return body.spec.b === undefined
    })
    expect((await widgets.get('older')).body.spec).toEqual({ a: '1' })
  })
})

describe('versions', () => {
  let widgets: ApiResource
  let group: string
  beforeAll(async () => {
    group = uniqueGroup()
    const versions = [
      versionOf('v1', { storage: true, schema: schemaOf({ a: { type: 'string' }, b: { type: 'string' } }) }),
      versionOf('v1beta1', { deprecated: true, schema: schemaOf({ a: { type: 'string' } }) }),
      versionOf('v1alpha1', { deprecated: true, deprecationWarning: 'use v1 instead' }),
      versionOf('v0', { served: false }),
    ]
    widgets = await defineWidgets(api, { group, versions })
    for (const version of ['v1beta1', 'v1alpha1']) await untilServed(widgets.at({ apiVersion: `${group}/${version}` }))
  })

  it('share one object, each with its own fields', async () => {
    await widgets.given('shared', { spec: { a: '1', b: '2' } })
    const { body } = await widgets.at({ apiVersion: `${group}/v1beta1` }).get('shared')
    expect(body.apiVersion).toBe(`${group}/v1beta1`)
    expect(body.spec).toEqual({ a: '1' })
    expect((await widgets.get('shared')).body.spec).toEqual({ a: '1', b: '2' })
  })

  it('prune unknown fields when they write', async () => {
    await widgets.given('pruned', { spec: { a: '1', b: '2' } })
    const beta = widgets.at({ apiVersion: `${group}/v1beta1` })
    const { body } = await beta.patch('merge', 'pruned', { spec: { a: '3' } })
    expect(body.spec).toEqual({ a: '3' })
    expect((await widgets.get('pruned')).body.spec).toEqual({ a: '3' })
  })

  it('that are deprecated cause a warning', async () => {
    const beta = await widgets.at({ apiVersion: `${group}/v1beta1` }).list()
    expect(warningsOf(beta)).toEqual([`${group}/v1beta1 Widget is deprecated; use ${group}/v1 Widget`])
    const alpha = await widgets.at({ apiVersion: `${group}/v1alpha1` }).list()
    expect(warningsOf(alpha)).toEqual(['use v1 instead'])
    expect(warningsOf(await widgets.list())).toEqual([])
  })

  it('that are not served are not found', async () => {
    const reply = await widgets.at({ apiVersion: `${group}/v0` }).list()
    expect(reply.status).toBe(404)
    expect(reply.text).toBe('404 page not found\n')
  })

  it('are listed with the preferred one first', async () => {
    const found = await until('all versions are listed', async () => {
      const all: Json[] = (await api.get('/apis')).body.groups
      const own = all.find(({ name }) => name === group)
      return own?.versions.length === 3 && own
    })
    expect(found.versions.map(({ version }: Json) => version)).toEqual(['v1', 'v1beta1', 'v1alpha1'])
  })

  it('are recorded if an object may be stored in them', async () => {
    const name = `widgets.${group}`
    await definitions.patch('json', name, [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/storage', value: true },
    ])
    const stored = await until('the new version is recorded', async () => {
      const { body } = await definitions.get(name)
      return body.status.storedVersions.length === 2 && body.status.storedVersions
    })
    expect(stored).toEqual(['v1', 'v1beta1'])
    const { status, body } = await definitions.patch('json', name, [{ op: 'remove', path: '/spec/versions/0' }])
    expect(status).toBe(422)
    expect(body.message).toContain(
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, ',
    )
  })
})

describe('a definition is rejected', () => {
  const group = uniqueGroup()
  it.each<[string, Json, string]>([
    ['without a schema', { version: { schema: undefined } }, 'spec.versions[0].schema.openAPIV3Schema: Required value'],
    [
      'with a schema without types',
      { version: { schema: { openAPIV3Schema: { type: 'object', properties: { spec: {} } } } } },
      'spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields',
    ],
    [
      'with two storage versions',
      { versions: [versionOf('v1', { storage: true }), versionOf('v2', { storage: true })] },
      'spec.versions: Invalid value: [',
    ],
    [
      'with the same version twice',
      { versions: [versionOf('v1', { storage: true }), versionOf('v1')] },
      'spec.versions: Invalid value: [',
    ],
    [
      'with an invalid default',
      { properties: { a: { type: 'integer', default: 'x' } } },
      'spec.validation.openAPIV3Schema.properties[spec].properties[a].default: Invalid value: "string": ',
    ],
    [
      'with an unknown conversion',
      { spec: { conversion: { strategy: 'Magic' } } },
      'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
    ],
    [
      'with a column without a path',
      { version: { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '' }] } },
      'spec.additionalPrinterColumns[0].JSONPath: Required value',
    ],
    [
      'with a keyed list whose key is optional',
      {
        properties: {
          l: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: { type: 'object', properties: { k: { type: 'string' } } },
          },
        },
      },
      'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
  ])('%s', async (_, parts, message) => {
    const { status, body } = await api.post(`${definitions.path()}?dryRun=All`, definitionOf(group, parts))
    expect(status).toBe(422)
    expect(body.reason).toBe('Invalid')
    expect(body.message).toContain(message)
  })

  it('under a name that is not its plural and group', async () => {
    const { body } = await api.post(
      definitions.path(),
      definitionOf(group, { metadata: { name: 'other.example.com' } }),
    )
    expect(body).toEqual(
      invalid('CustomResourceDefinition.apiextensions.k8s.io', 'other.example.com', {
        field: 'metadata.name',
        reason: 'FieldValueInvalid',
        message: `Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group`,
      }),
    )
  })

  it('when it does not exist', async () => {
    expect((await definitions.get('widgets.nobody.example.com')).body).toEqual(
      notFound('customresourcedefinitions.apiextensions.k8s.io', 'widgets.nobody.example.com'),
    )
  })
})
