/** Values that the schema allows but the type rejects, status writes with other fields, and watches from the future. */
import { describe, expect, it } from 'vitest'
import { resourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { defineWidgets } from './support/custom-resource.ts'
import { podTemplate } from './support/objects.ts'
import { failure } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const deployments = resourceOf(api, 'apps/v1', 'Deployment', 'deployments')
const leases = resourceOf(api, 'coordination.k8s.io/v1', 'Lease', 'leases')
const secrets = resourceOf(api, 'v1', 'Secret', 'secrets')

function unconvertible(type: string, name: string, why: string): Json {
  const subject = `failed to convert new object (/${name}; ${type}) to proper version`
  return failure({ code: 500, message: `${subject}: unable to convert unstructured object to ${type}: ${why}` })
}

describe('an applied configuration', () => {
  it('with an invalid quantity cannot be converted', async () => {
    const name = unique('web')
    const container = { name: 'main', image: 'app', resources: { limits: { cpu: 'lots' } } }
    const template = podTemplate(name, { spec: { containers: [container] } })
    const spec = { replicas: 0, selector: { matchLabels: { app: name } }, template }
    const why = `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`
    const denial = unconvertible('apps/v1, Kind=Deployment', name, why)
    expect((await deployments.apply('alice', name, { spec })).body).toEqual(denial)
    await deployments.given(name, { spec: { ...spec, template: podTemplate(name) } })
    expect((await deployments.apply('alice', name, { spec }, { query: 'force=true' })).body).toEqual(denial)
  })

  it('with an invalid time cannot be converted', async () => {
    const name = unique('lease')
    const { body } = await leases.apply('alice', name, { spec: { acquireTime: 'yesterday' } })
    const why = 'parsing time "yesterday" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "yesterday" as "2006"'
    expect(body).toEqual(unconvertible('coordination.k8s.io/v1, Kind=Lease', name, why))
  })

  it('with invalid bytes cannot be converted', async () => {
    const name = unique('secret')
    const { body } = await secrets.apply('alice', name, { data: { key: '%%' } })
    const why = 'error decoding from json: illegal base64 data at input byte 0'
    expect(body).toEqual(unconvertible('/v1, Kind=Secret', name, why))
  })
})

describe('the status of a custom resource', () => {
  it('does not change labels, but records the manager that set them', async () => {
    const widgets = await defineWidgets(api, { version: { subresources: { status: {} } } })
    const name = unique('widget')
    await widgets.given(name, { metadata: { labels: { a: 'b' } } }, { query: 'fieldManager=maker' })
    const { body } = await widgets.patch(
      'merge',
      name,
      { metadata: { labels: { c: 'd' }, annotations: { x: 'y' } }, status: { phase: 'Ready' } },
      { subresource: 'status', query: 'fieldManager=reporter' },
    )
    expect(body.metadata).toMatchObject({ labels: { a: 'b' } })
    expect(body.metadata).not.toHaveProperty('annotations')
    const [, reporter] = body.metadata.managedFields
    expect(reporter).toMatchObject({
      manager: 'reporter',
      subresource: 'status',
      fieldsV1: {
        'f:metadata': { 'f:annotations': { '.': {}, 'f:x': {} }, 'f:labels': { 'f:c': {} } },
        'f:status': { '.': {}, 'f:phase': {} },
      },
    })
  })
})

describe('a watch from a revision that does not exist yet', () => {
  it('waits without a bookmark that would go backwards', async () => {
    const path = `/api/v1/namespaces/${api.namespace}/secrets`
    const { metadata } = (await api.get(path)).body
    const future = Number(metadata.resourceVersion) + 1_000_000
    const query = `watch=1&resourceVersion=${future}&timeoutSeconds=3&allowWatchBookmarks=true`
    expect(await api.watchToEnd(`${path}?${query}`)).toEqual([])
  })
})
