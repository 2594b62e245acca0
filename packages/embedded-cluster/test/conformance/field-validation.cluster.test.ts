/** Unknown and duplicate fields: ignored, warned about or rejected. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Headers, type Json, STRATEGIC, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments } from './support/objects.ts'
import { badRequest, invalid } from './support/status.ts'

const api = ConformanceApi.forThisFile()

/** The texts of the warning headers. */
function warnings(headers: Readonly<Record<string, string | string[] | undefined>>): string[] {
  const all = [headers.warning ?? []].flat().join(', ')
  return [...all.matchAll(/299 - ("(?:[^"\\]|\\.)*")/g)].map(([, text]) => JSON.parse(text ?? ''))
}

function strict(kind: string, problems: string): Json {
  return badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: strict decoding error: ${problems}`)
}

const misspelt = {
  ...deployment('misspelt', { replcas: 1 }),
  foo: 1,
}
misspelt.spec.template.spec.containers[0] = {
  ...misspelt.spec.template.spec.containers[0],
  imge: 'x',
  ports: [{ containerPort: 80, prot: 'TCP' }],
}
const misspeltFields = [
  'unknown field "spec.template.spec.containers[0].imge"',
  'unknown field "spec.template.spec.containers[0].ports[0].prot"',
  'unknown field "spec.replcas"',
  'unknown field "foo"',
]

const twice = '{"metadata":{"name":"twice"},"data":{"a":"1","a":"2","b":"3"},"kind":"ConfigMap"}'

describe('unknown fields', () => {
  const send = (validation: string) => api.post(`${deployments(api.namespace)}?dryRun=All${validation}`, misspelt)

  it.each(['', '&fieldValidation=Warn', '&fieldValidation='])('cause warnings ("%s")', async (validation) => {
    const { status, headers, body } = await send(validation)
    expect(status).toBe(201)
    expect(warnings(headers)).toEqual(misspeltFields)
    expect(body.spec.template.spec.containers[0]).not.toHaveProperty('imge')
    expect(body).not.toHaveProperty('foo')
  })

  it('are dropped silently on request', async () => {
    const { status, headers, body } = await send('&fieldValidation=Ignore')
    expect(status).toBe(201)
    expect(warnings(headers)).toEqual([])
    expect(body).not.toHaveProperty('foo')
  })

  it('are rejected on request', async () => {
    const { status, body } = await send('&fieldValidation=Strict')
    expect(status).toBe(400)
    expect(body).toEqual(strict('Deployment', misspeltFields.join(', ')))
  })

  it('are case-sensitive', async () => {
    const object = deployment('cased', { Replicas: 3 })
    const { body } = await api.post(`${deployments(api.namespace)}?dryRun=All&fieldValidation=Strict`, object)
    expect(body).toEqual(strict('Deployment', 'unknown field "spec.Replicas"'))
  })

  it('of a YAML body are rejected too', async () => {
    const { status, body } = await api.post(
      `${configMaps(api.namespace)}?dryRun=All&fieldValidation=Strict`,
      'metadata:\n  name: yaml\nfoo: bar\n',
      { 'content-type': 'application/yaml' },
    )
    expect(status).toBe(400)
    expect(body).toEqual(strict('ConfigMap', 'unknown field "foo"'))
  })

  it('of a replacement are rejected too', async () => {
    const { metadata } = await api.create(configMaps(api.namespace), configMap(unique('object')))
    const of = `${configMaps(api.namespace)}/${metadata.name}`
    const { status, body } = await api.put(`${of}?fieldValidation=Strict`, { ...configMap(metadata.name), foo: 1 })
    expect(status).toBe(400)
    expect(body).toEqual(strict('ConfigMap', 'unknown field "foo"'))
  })

  it.each<[string, Headers, Json]>([
    ['merge', {}, { foo: 'bar', metadata: { bar: 'x' } }],
    ['strategic merge', { 'content-type': STRATEGIC }, { foo: 'bar' }],
    ['JSON', { 'content-type': 'application/json-patch+json' }, [{ op: 'add', path: '/foo', value: 'bar' }]],
  ])('of a %s patch cause warnings or are rejected', async (_, headers, patch) => {
    const { metadata } = await api.create(configMaps(api.namespace), configMap(unique('object')))
    const of = `${configMaps(api.namespace)}/${metadata.name}?dryRun=All`
    const warned = await api.patch(of, patch, headers)
    expect(warned.status).toBe(200)
    expect(warnings(warned.headers)).toContain('unknown field "foo"')
    const rejected = await api.patch(`${of}&fieldValidation=Strict`, patch, headers)
    expect(rejected.status).toBe(422)
    expect(rejected.body).toMatchObject({ reason: 'Invalid', details: { causes: [{ field: 'patch' }] } })
    expect(rejected.body.message).toContain('strict decoding error: unknown field')
  })

  it('of delete options are ignored', async () => {
    const { metadata } = await api.create(configMaps(api.namespace), configMap(unique('object')))
    const { status, headers } = await api.delete(`${configMaps(api.namespace)}/${metadata.name}`, { foo: 'bar' })
    expect(status).toBe(200)
    expect(warnings(headers)).toEqual([])
  })
})

describe('duplicate fields', () => {
  const send = (validation: string) => api.post(`${configMaps(api.namespace)}?dryRun=All${validation}`, twice)

  it('cause a warning, and the last one is used', async () => {
    const { status, headers, body } = await send('')
    expect(status).toBe(201)
    expect(warnings(headers)).toEqual(['duplicate field "data.a"'])
    expect(body.data).toEqual({ a: '2', b: '3' })
  })

  it('are rejected on request', async () => {
    const { status, body } = await send('&fieldValidation=Strict')
    expect(status).toBe(400)
    expect(body).toEqual(strict('ConfigMap', 'duplicate field "data.a"'))
  })

  it('are ignored on request', async () => {
    const { status, headers } = await send('&fieldValidation=Ignore')
    expect(status).toBe(201)
    expect(warnings(headers)).toEqual([])
  })

  it('cause one warning even if they occur three times', async () => {
    const { headers } = await api.post(
      `${configMaps(api.namespace)}?dryRun=All`,
      '{"metadata":{"name":"thrice"},"data":{"a":"1","a":"2","a":"3"}}',
    )
    expect(warnings(headers)).toEqual(['duplicate field "data.a"'])
  })
})

describe('duplicate fields in YAML', () => {
  const text = (name: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: "1"\n  a: "2"\nother: 1\n`

  it('are rejected with their lines, before unknown fields', async () => {
    const path = `${configMaps(api.namespace)}?dryRun=All&fieldValidation=Strict`
    const { status, body } = await api.post(path, text('yaml'), { 'content-type': 'application/yaml' })
    expect(status).toBe(400)
    expect(body).toEqual(
      strict('ConfigMap', 'yaml: unmarshal errors:\n  line 7: key "a" already set in map, unknown field "other"'),
    )
  })

  it.each([
    ['YAML', (name: string) => text(name).replace('other: 1\n', ''), 7],
    [
      'JSON',
      (name: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":{"a":"1","a":"2"}}`,
      1,
    ],
  ])('of an apply are rejected with their lines, also in %s', async (_, write, line) => {
    const name = unique('applied')
    const path = `${configMaps(api.namespace)}/${name}?fieldManager=test&fieldValidation=Strict`
    const { status, body } = await api.patch(path, write(name), { 'content-type': 'application/apply-patch+yaml' })
    expect(status).toBe(400)
    expect(body.message).toBe(
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line ${line}: key "a" already set in map`,
    )
  })
})

describe('unknown and duplicate fields of a built-in kind', () => {
  it('are reported in the order of the document', async () => {
    const text = '{"metadata":{"name":"mixed"},"first":1,"data":{"a":"1","a":"2"},"last":1}'
    const { body } = await api.post(`${configMaps(api.namespace)}?dryRun=All&fieldValidation=Strict`, text)
    expect(body).toEqual(strict('ConfigMap', 'unknown field "first", duplicate field "data.a", unknown field "last"'))
  })
})

describe('fieldValidation', () => {
  it.each<[string, (query: string) => ReturnType<typeof api.get>]>([
    ['CreateOptions', (query) => api.post(`${configMaps(api.namespace)}${query}`, configMap('x'))],
    ['UpdateOptions', (query) => api.put(`${configMaps(api.namespace)}/x${query}`, configMap('x'))],
    ['PatchOptions', (query) => api.patch(`${configMaps(api.namespace)}/x${query}`, {})],
  ])('of %s has three values', async (kind, send) => {
    const { status, body } = await send('?fieldValidation=Loose')
    expect(status).toBe(422)
    expect(body).toEqual(
      invalid(`${kind}.meta.k8s.io`, '', {
        field: 'fieldValidation',
        reason: 'FieldValueNotSupported',
        message: 'Unsupported value: "Loose": supported values: "", "Ignore", "Strict", "Warn"',
      }),
    )
  })
})
