/** Features that a definition adds to its objects: status and scale, columns, selectable fields. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ApiResource } from './support/api-resource.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { defineWidgets, schemaOf } from './support/custom-resource.ts'
import { badRequest } from './support/status.ts'

const api = ConformanceApi.forThisFile()

// Every definition takes a real server two seconds, so cases wait for theirs concurrently.
describe.concurrent('the status of a custom resource', () => {
  let widgets: ApiResource
  beforeAll(async () => {
    widgets = await defineWidgets(api, { version: { subresources: { status: {} } } })
  })

  it('is not set with the object', async () => {
    const { body } = await widgets.create('created', { spec: { a: 'x' }, status: { phase: 'Ready' } })
    expect(body.status).toBeUndefined()
  })

  it('is set separately, without a new generation', async () => {
    const created = await widgets.given('status', { spec: { a: 'x' } })
    const { body } = await widgets.replace(
      'status',
      { ...created, spec: { a: 'changed' }, status: { phase: 'Ready' } },
      { subresource: 'status' },
    )
    expect(body).toMatchObject({ spec: { a: 'x' }, status: { phase: 'Ready' }, metadata: { generation: 1 } })
    const changed = await widgets.patch('merge', 'status', { spec: { a: 'y' }, status: { phase: 'Lost' } })
    expect(changed.body).toMatchObject({ spec: { a: 'y' }, status: { phase: 'Ready' }, metadata: { generation: 2 } })
  })

  it('does not change the metadata', async () => {
    await widgets.given('metadata', { metadata: { labels: { a: 'b' } } })
    const patch = { metadata: { labels: { a: 'c' }, finalizers: ['example.com/x'] }, status: { phase: 'Ready' } }
    const { body } = await widgets.patch('merge', 'metadata', patch, { subresource: 'status' })
    expect(body.metadata.labels).toEqual({ a: 'b' })
    expect(body.metadata.finalizers).toBeUndefined()
    expect(body.status).toEqual({ phase: 'Ready' })
  })

  it('has a path only if the definition enables it', async () => {
    const plain = await defineWidgets(api)
    await plain.given('plain', { status: { phase: 'Ready' } })
    expect((await plain.get('plain')).body.status).toEqual({ phase: 'Ready' })
    expect((await plain.get('plain', { subresource: 'status' })).status).toBe(404)
  })
})

describe.concurrent('the scale of a custom resource', () => {
  let widgets: ApiResource
  beforeAll(async () => {
    const replicas = { type: 'integer' }
    widgets = await defineWidgets(api, {
      properties: { replicas },
      version: {
        schema: schemaOf({ replicas }),
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    })
  })

  it('contains replicas and selector', async () => {
    await widgets.given('shown', { spec: { replicas: 3 } })
    const status = { replicas: 2, selector: 'app=x' }
    await widgets.patch('merge', 'shown', { status }, { subresource: 'status' })
    expect((await widgets.get('shown', { subresource: 'scale' })).body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'shown' },
      spec: { replicas: 3 },
      status,
    })
  })

  it('changes the replicas of the object', async () => {
    await widgets.given('scaled', { spec: { replicas: 1 } })
    const { body } = await widgets.patch('merge', 'scaled', { spec: { replicas: 5 } }, { subresource: 'scale' })
    expect(body.spec).toEqual({ replicas: 5 })
    const scaled = await widgets.get('scaled')
    expect(scaled.body).toMatchObject({ spec: { replicas: 5 }, metadata: { generation: 2 } })
  })

  it('cannot be read without replicas', async () => {
    await widgets.given('none', { spec: {} })
    const { status, body } = await widgets.get('none', { subresource: 'scale' })
    expect(status).toBe(500)
    expect(body.message).toBe('Internal error occurred: the spec replicas field ".spec.replicas" does not exist')
  })
})

describe.concurrent('columns', () => {
  const table = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }

  it('are name and age by default', async () => {
    const widgets = await defineWidgets(api)
    await widgets.given('x')
    const { body } = await widgets.list(table)
    expect(body.columnDefinitions.map(({ name }: Json) => name)).toEqual(['Name', 'Age'])
    expect(body.rows[0].cells).toEqual(['x', expect.stringMatching(/^\d+s$/)])
  })

  it('are those of the definition', async () => {
    const widgets = await defineWidgets(api, {
      properties: {
        color: { type: 'string' },
        size: { type: 'integer' },
        on: { type: 'boolean' },
        list: { type: 'array', items: { type: 'object', properties: { n: { type: 'string' } } } },
      },
      version: {
        schema: schemaOf({
          color: { type: 'string' },
          size: { type: 'integer' },
          on: { type: 'boolean' },
          list: { type: 'array', items: { type: 'object', properties: { n: { type: 'string' } } } },
        }),
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color', description: 'what it looks like' },
          { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
          { name: 'On', type: 'boolean', jsonPath: '.spec.on' },
          { name: 'First', type: 'string', jsonPath: '.spec.list[0].n' },
          { name: 'Born', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    })
    await widgets.given('full', { spec: { color: 'red', size: 3, on: true, list: [{ n: 'a' }, { n: 'b' }] } })
    await widgets.given('none')
    const { body } = await widgets.list(table)
    expect(body.columnDefinitions).toEqual([
      expect.objectContaining({ name: 'Name', type: 'string', format: 'name', priority: 0 }),
      { name: 'Color', type: 'string', format: '', description: 'what it looks like', priority: 0 },
      { name: 'Size', type: 'integer', format: '', description: expect.any(String), priority: 1 },
      { name: 'On', type: 'boolean', format: '', description: expect.any(String), priority: 0 },
      { name: 'First', type: 'string', format: '', description: expect.any(String), priority: 0 },
      { name: 'Born', type: 'date', format: '', description: expect.any(String), priority: 0 },
    ])
    const age = expect.stringMatching(/^\d+s$/)
    expect(body.rows.map(({ cells }: Json) => cells)).toEqual([
      ['full', 'red', 3, true, 'a', age],
      ['none', null, null, null, null, age],
    ])
  })
})

describe.concurrent('selectable fields', () => {
  it('select objects in lists', async () => {
    const widgets = await defineWidgets(api, {
      properties: { color: { type: 'string' }, size: { type: 'integer' } },
      version: {
        schema: schemaOf({ color: { type: 'string' }, size: { type: 'integer' } }),
        selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }],
      },
    })
    await widgets.given('red', { spec: { color: 'red', size: 1 } })
    await widgets.given('blue', { spec: { color: 'blue', size: 1 } })
    await widgets.given('none')
    const select = async (fieldSelector: string) => {
      const { body } = await widgets.list({ query: `fieldSelector=${encodeURIComponent(fieldSelector)}` })
      return body.items?.map(({ metadata }: Json) => metadata.name) ?? body
    }
    expect(await select('spec.color=red')).toEqual(['red'])
    expect(await select('spec.color!=red,spec.size=1')).toEqual(['blue'])
    expect(await select('spec.color=')).toEqual(['none'])
    expect(await select('metadata.name=blue')).toEqual(['blue'])
    expect(await select('spec.shape=round')).toEqual(badRequest('field label not supported: spec.shape'))
  })
})
