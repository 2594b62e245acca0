/** Creating objects: what the server sets, ignores and rejects. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments, normalised, pod, pods } from './support/objects.ts'
import { badRequest, failure, invalid, methodNotAllowed, notFound } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const create = (object: Json, query = '') => api.post(`${configMaps(api.namespace)}${query}`, object)

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

describe('a created object', () => {
  it('gets uid, resourceVersion and creationTimestamp', async () => {
    const name = unique('filled')
    const { status, body } = await create(configMap(name, { data: { key: 'value' } }))
    expect(status).toBe(201)
    expect(normalised(body)).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name,
        namespace: api.namespace,
        uid: '<uid>',
        resourceVersion: '<resourceVersion>',
        creationTimestamp: '<creationTimestamp>',
      },
      data: { key: 'value' },
    })
  })

  it('is read back exactly as in the response', async () => {
    const name = unique('same')
    const { body } = await create(configMap(name, { metadata: { labels: { a: 'b' } } }))
    expect((await api.get(`${configMaps(api.namespace)}/${name}`)).body).toEqual(body)
  })

  it('gets kind and apiVersion from the path if the body has neither', async () => {
    const { status, body } = await create({ metadata: { name: unique('typeless') } })
    expect(status).toBe(201)
    expect(body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' })
  })

  it('has generation 1 if its kind has generations, and none otherwise', async () => {
    const name = unique('generation')
    const counted = await api.create(deployments(api.namespace), deployment(name))
    expect(counted.metadata.generation).toBe(1)
    const { body } = await create(configMap(name))
    expect(body.metadata).not.toHaveProperty('generation')
  })

  it('keeps neither uid nor times nor deletion from the client', async () => {
    const { status, body } = await create(
      configMap(unique('stripped'), {
        metadata: {
          uid: '123',
          creationTimestamp: '2020-01-01T00:00:00Z',
          deletionTimestamp: '2020-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 5,
          selfLink: '/somewhere',
        },
      }),
    )
    expect(status).toBe(201)
    expect(normalised(body).metadata).toMatchObject({ uid: '<uid>', creationTimestamp: '<creationTimestamp>' })
    expect(body.metadata.creationTimestamp).not.toBe('2020-01-01T00:00:00Z')
    for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) {
      expect(body.metadata).not.toHaveProperty(field)
    }
  })

  it('records the manager of its fields', async () => {
    const { body } = await create(configMap(unique('managed'), { data: { key: 'value' } }), '?fieldManager=tester')
    expect(body.metadata.managedFields).toEqual([
      {
        manager: 'tester',
        operation: 'Update',
        apiVersion: 'v1',
        time: body.metadata.creationTimestamp,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:key': {} } },
      },
    ])
  })

  it('has none of the status from the client', async () => {
    const object = { ...deployment(unique('statusless')), status: { replicas: 5, readyReplicas: 5 } }
    expect((await api.create(deployments(api.namespace), object)).status).toEqual({})
  })

  it('has a higher version than any object before', async () => {
    const first = await create(configMap(unique('first')))
    const second = await api.create(deployments(api.namespace), deployment(unique('second')))
    expect(BigInt(second.metadata.resourceVersion)).toBeGreaterThan(BigInt(first.body.metadata.resourceVersion))
  })
})

describe('generateName', () => {
  it('is extended with five characters', async () => {
    const { status, body } = await create({ metadata: { generateName: 'gen-' } })
    expect(status).toBe(201)
    expect(body.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    expect(body.metadata.generateName).toBe('gen-')
  })

  it('generates a different name each time', async () => {
    const created = await Promise.all(Array.from({ length: 10 }, () => create({ metadata: { generateName: 'many-' } })))
    expect(new Set(created.map(({ body }) => body.metadata.name)).size).toBe(10)
  })

  it('is ignored if there is a name', async () => {
    const name = unique('both')
    const { body } = await create({ metadata: { generateName: 'gen-', name } })
    expect(body.metadata).toMatchObject({ name, generateName: 'gen-' })
  })

  it('is truncated if the name would be longer than 63 characters', async () => {
    const { body } = await create({ metadata: { generateName: 'g'.repeat(80) } })
    expect(body.metadata.name).toMatch(/^g{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  })

  it('must itself be a valid prefix of a name', async () => {
    const { status, body } = await create({ metadata: { generateName: 'Bad_' } })
    expect(status).toBe(422)
    expect(body.details.causes).toEqual([
      {
        field: 'metadata.generateName',
        reason: 'FieldValueInvalid',
        message: `Invalid value: "Bad_": ${SUBDOMAIN}`,
      },
      {
        field: 'metadata.name',
        reason: 'FieldValueInvalid',
        message: expect.stringMatching(/^Invalid value: "Bad_[a-z0-9]{5}": /),
      },
    ])
  })
})

describe('a create is rejected', () => {
  it('when the name exists', async () => {
    const name = unique('taken')
    await create(configMap(name))
    const { status, body } = await create(configMap(name))
    expect(status).toBe(409)
    expect(body).toEqual(
      failure({
        code: 409,
        reason: 'AlreadyExists',
        message: `configmaps "${name}" already exists`,
        details: { name, kind: 'configmaps' },
      }),
    )
  })

  it('when the name exists in an API group, which is in the message', async () => {
    const name = unique('taken')
    await api.create(deployments(api.namespace), deployment(name))
    const { body } = await api.post(deployments(api.namespace), deployment(name))
    expect(body).toMatchObject({
      message: `deployments.apps "${name}" already exists`,
      details: { name, group: 'apps', kind: 'deployments' },
    })
  })

  it('when the name belongs to an object that is being deleted, which is in the message', async () => {
    const name = unique('leaving')
    await create(configMap(name, { metadata: { finalizers: ['example.com/hold'] } }))
    await api.delete(`${configMaps(api.namespace)}/${name}`)
    const { body } = await create(configMap(name))
    expect(body).toEqual(
      failure({
        code: 409,
        reason: 'AlreadyExists',
        message: `object is being deleted: configmaps "${name}" already exists`,
        details: { name, kind: 'configmaps' },
      }),
    )
    await api.patch(`${configMaps(api.namespace)}/${name}`, { metadata: { finalizers: null } })
  })

  it('when it has no name', async () => {
    const message = 'Required value: name or generateName is required'
    const expected = invalid('ConfigMap', '', { field: 'metadata.name', reason: 'FieldValueRequired', message })
    expect((await create({ metadata: {} })).body).toEqual(expected)
    expect((await create({})).body).toEqual(expected)
  })

  it('when it has a resourceVersion', async () => {
    const { status, body } = await create(configMap(unique('versioned'), { metadata: { resourceVersion: '5' } }))
    expect(status).toBe(500)
    expect(body).toEqual(failure({ code: 500, message: 'resourceVersion should not be set on objects to be created' }))
  })

  it('when its namespace differs from the path', async () => {
    const { status, body } = await create(configMap(unique('elsewhere'), { metadata: { namespace: 'other' } }))
    expect(status).toBe(400)
    expect(body).toEqual(
      badRequest('the namespace of the provided object does not match the namespace sent on the request'),
    )
  })

  it('when the namespace does not exist', async () => {
    const { status, body } = await api.post(configMaps('does-not-exist'), configMap('x'))
    expect(status).toBe(404)
    expect(body).toEqual(notFound('namespaces', 'does-not-exist'))
  })

  it('when the path has no namespace', async () => {
    const { status, body } = await api.post('/api/v1/configmaps', configMap('x'))
    expect(status).toBe(405)
    expect(body).toEqual(methodNotAllowed)
  })

  it.each<[string, Json, string]>([
    [
      'another kind',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } },
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      'another group',
      { apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'x' } },
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      'a number for a string in a map',
      { metadata: { name: 'x' }, data: { a: 1 } },
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'a list for a map',
      { metadata: { name: 'x' }, data: [] },
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      'a number for a name',
      { metadata: { name: 5 } },
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
    ],
    [
      'a string for metadata',
      { metadata: 'x' },
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
    ],
  ])('when the body contains %s', async (_, object, message) => {
    const { status, body } = await create(object)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest(message))
  })

  it.each<[string, Json, string, string, string]>([
    ['its name', { name: 'Bad_Name' }, 'metadata.name', 'FieldValueInvalid', `Invalid value: "Bad_Name": ${SUBDOMAIN}`],
    [
      'a label key',
      { labels: { 'bad key': 'v' } },
      'metadata.labels',
      'FieldValueInvalid',
      `Invalid value: "bad key": ${QUALIFIED}`,
    ],
    [
      'a label value',
      { labels: { good: 'bad value!' } },
      'metadata.labels',
      'FieldValueInvalid',
      `Invalid value: "bad value!": ${LABEL_VALUE}`,
    ],
    [
      'an annotation key',
      { annotations: { 'bad key': 'v' } },
      'metadata.annotations',
      'FieldValueInvalid',
      `Invalid value: "bad key": ${QUALIFIED}`,
    ],
    [
      'a finalizer without a domain',
      { finalizers: ['plain'] },
      'metadata.finalizers[0]',
      'FieldValueInvalid',
      'Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified',
    ],
    [
      'an owner without a uid',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner' }] },
      'metadata.ownerReferences.uid',
      'FieldValueInvalid',
      'Invalid value: "": must not be empty',
    ],
    [
      'too many bytes of annotations',
      { annotations: { big: 'x'.repeat(256 * 1024) } },
      'metadata.annotations',
      'FieldValueTooLong',
      'Too long: may not be more than 262144 bytes',
    ],
  ])('when %s is not valid', async (_, metadata, field, reason, message) => {
    const name = metadata.name ?? 'wrong'
    const { status, body } = await create({ metadata: { name, ...metadata } })
    expect(status).toBe(422)
    expect(body).toEqual(invalid('ConfigMap', name, { field, reason, message }))
  })

  it('when two owners are its controller', async () => {
    const owner = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: name, controller: true })
    const ownerReferences = [owner('one'), owner('two')]
    const { body } = await create(configMap('wrong', { metadata: { ownerReferences } }))
    expect(body).toEqual(
      invalid('ConfigMap', 'wrong', {
        field: 'metadata.ownerReferences',
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${JSON.stringify(ownerReferences)}: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/one and ConfigMap/two`,
      }),
    )
  })

  it('when a name is longer than 253 characters', async () => {
    const name = 'a'.repeat(254)
    const { status, body } = await create(configMap(name))
    expect(status).toBe(422)
    expect(body.details.causes).toEqual([
      {
        field: 'metadata.name',
        reason: 'FieldValueInvalid',
        message: `Invalid value: "${name}": must be no more than 253 characters`,
      },
    ])
  })

  it.each<[string, string, string, Json, string]>([
    [
      'a Service',
      'services',
      '1-digit-first',
      { spec: { ports: [{ port: 80 }] } },
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
    ['a Namespace', '', 'with.dots', {}, 'must not contain dots'],
  ])('when the name of %s is not a DNS label', async (_, resource, name, rest, why) => {
    const path = resource === '' ? '/api/v1/namespaces' : `/api/v1/namespaces/${api.namespace}/${resource}`
    const { status, body } = await api.post(path, { metadata: { name }, ...rest })
    expect(status).toBe(422)
    expect(body.details.causes).toEqual([
      { field: 'metadata.name', reason: 'FieldValueInvalid', message: `Invalid value: "${name}": ${why}` },
    ])
  })

  it('when several fields are invalid, reporting each', async () => {
    const { status, body } = await api.post(deployments(api.namespace), { metadata: { name: 'empty' } })
    expect(status).toBe(422)
    expect(body).toEqual(
      invalid(
        'Deployment.apps',
        'empty',
        { field: 'spec.selector', reason: 'FieldValueRequired', message: 'Required value' },
        {
          field: 'spec.template.metadata.labels',
          reason: 'FieldValueInvalid',
          message: 'Invalid value: null: `selector` does not match template `labels`',
        },
        { field: 'spec.template.spec.containers', reason: 'FieldValueRequired', message: 'Required value' },
      ),
    )
  })

  it.each<[string, Json, string]>([
    ['a key with a slash', { data: { 'bad/key': 'x' } }, 'data[bad/key]'],
    ['a key in both maps', { data: { x: 'x' }, binaryData: { x: 'eA==' } }, 'data[x]'],
  ])('when a ConfigMap has %s', async (_, data, field) => {
    const { status, body } = await create({ metadata: { name: 'wrong' }, ...data })
    expect(status).toBe(422)
    expect(body.details.causes).toMatchObject([{ field, reason: 'FieldValueInvalid' }])
  })

  it('when a pod has two containers with the same name', async () => {
    const container = { name: 'twin', image: 'registry.example.com/app:1' }
    const { status, body } = await api.post(
      pods(api.namespace),
      pod('twins', { spec: { containers: [container, container] } }),
    )
    expect(status).toBe(422)
    expect(body).toEqual(
      invalid('Pod', 'twins', {
        field: 'spec.containers[1].name',
        reason: 'FieldValueDuplicate',
        message: 'Duplicate value: "twin"',
      }),
    )
  })

  it('when the field manager has a name longer than 128 bytes', async () => {
    const { status, body } = await create(configMap('x'), `?fieldManager=${'x'.repeat(129)}`)
    expect(status).toBe(422)
    expect(body).toEqual(
      invalid('CreateOptions.meta.k8s.io', '', {
        field: 'fieldManager',
        reason: 'FieldValueTooLong',
        message: 'Too long: may not be more than 128 bytes',
      }),
    )
  })

  it('when the name of the field manager is not printable', async () => {
    const { status, body } = await create(configMap('x'), '?fieldManager=%00')
    expect(status).toBe(422)
    expect(body.details.causes).toEqual([
      {
        field: 'fieldManager',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "\\x00": invalid character U+0000 (at position 0)',
      },
    ])
  })
})
