/** Strategic merge patches: lists of built-in kinds are merged by their keys, and directives control the rest. */
import { beforeAll, describe, expect, it } from 'vitest'
import { resourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { badRequest, failure } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const configMaps = resourceOf(api, 'v1', 'ConfigMap', 'configmaps')
// Only clients write PodTemplates, and their pods have every kind of list.
const templates = resourceOf(api, 'v1', 'PodTemplate', 'podtemplates')
const deployments = resourceOf(api, 'apps/v1', 'Deployment', 'deployments')
const services = resourceOf(api, 'v1', 'Service', 'services')

const podSpec = {
  containers: [
    {
      name: 'web',
      image: 'web:1',
      args: ['--a', '--b'],
      env: [
        { name: 'X', value: '1' },
        { name: 'Y', value: '2' },
      ],
      ports: [{ containerPort: 80 }, { containerPort: 443, name: 'https' }],
      volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
    },
    { name: 'side', image: 'side:1' },
  ],
  volumes: [
    { name: 'cache', emptyDir: {} },
    { name: 'config', configMap: { name: 'settings' } },
  ],
  tolerations: [{ key: 'a', operator: 'Exists' }],
  imagePullSecrets: [{ name: 'first' }],
  nodeSelector: { disk: 'ssd' },
  hostAliases: [{ ip: '1.2.3.4', hostnames: ['a'] }],
}

beforeAll(async () => {
  await templates.given('pod', {
    metadata: { labels: { app: 'web' }, finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] },
    template: { spec: podSpec },
  })
})

/** The result of a patch of the pod's spec. */
async function patchedSpec(spec: Json): Promise<Json> {
  const { status, body, text } = await templates.patch(
    'strategic',
    'pod',
    { template: { spec } },
    { query: 'dryRun=All' },
  )
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.template.spec
}

const names = (items: Json[]) => items.map(({ name }) => name)

describe('containers are merged by name', () => {
  it('so that one field of one container can be changed', async () => {
    const { containers } = await patchedSpec({ containers: [{ name: 'web', image: 'web:2' }] })
    expect(containers).toMatchObject([{ ...podSpec.containers[0], image: 'web:2' }, podSpec.containers[1]])
  })

  it('and a new one is added first', async () => {
    const { containers } = await patchedSpec({ containers: [{ name: 'new', image: 'new:1' }] })
    expect(names(containers)).toEqual(['new', 'web', 'side'])
  })

  it('and one is deleted by a directive', async () => {
    const { containers } = await patchedSpec({ containers: [{ name: 'web', $patch: 'delete' }] })
    expect(names(containers)).toEqual(['side'])
  })

  it('and deleting a missing one is ignored', async () => {
    const { containers } = await patchedSpec({ containers: [{ name: 'nobody', $patch: 'delete' }] })
    expect(names(containers)).toEqual(['web', 'side'])
  })

  it('and all are replaced by a directive', async () => {
    const { containers } = await patchedSpec({ containers: [{ name: 'new', image: 'new:1' }, { $patch: 'replace' }] })
    expect(names(containers)).toEqual(['new'])
  })

  it('in the order a directive gives', async () => {
    const { containers } = await patchedSpec({
      '$setElementOrder/containers': [{ name: 'new' }, { name: 'side' }, { name: 'web' }],
      containers: [{ name: 'new', image: 'new:1' }],
    })
    expect(names(containers)).toEqual(['new', 'side', 'web'])
  })

  it('even if the directive is the only content', async () => {
    const { containers } = await patchedSpec({ '$setElementOrder/containers': [{ name: 'side' }, { name: 'web' }] })
    expect(names(containers)).toEqual(['side', 'web'])
  })
})

describe('lists inside a container', () => {
  const patchedContainer = async (fields: Json) =>
    (await patchedSpec({ containers: [{ name: 'web', ...fields }] })).containers[0]

  it('are merged by name: variables', async () => {
    const env = [
      { name: 'Y', value: '9' },
      { name: 'Z', value: '3' },
    ]
    expect((await patchedContainer({ env })).env).toEqual([
      { name: 'X', value: '1' },
      { name: 'Y', value: '9' },
      { name: 'Z', value: '3' },
    ])
  })

  it('allow a variable to change from a value to a reference', async () => {
    const valueFrom = { fieldRef: { fieldPath: 'metadata.name' } }
    const { env } = await patchedContainer({ env: [{ name: 'X', value: null, valueFrom }] })
    expect(env[0]).toEqual({ name: 'X', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } })
  })

  it('are merged by number: ports', async () => {
    const { ports } = await patchedContainer({ ports: [{ containerPort: 80, name: 'http' }] })
    expect(ports).toEqual([
      { containerPort: 80, name: 'http', protocol: 'TCP' },
      { containerPort: 443, name: 'https', protocol: 'TCP' },
    ])
  })

  it('are merged by path: mounts', async () => {
    const { volumeMounts } = await patchedContainer({ volumeMounts: [{ name: 'config', mountPath: '/config' }] })
    expect(volumeMounts).toEqual([
      { name: 'config', mountPath: '/config' },
      { name: 'cache', mountPath: '/cache' },
    ])
  })

  it('are replaced where they have no key: arguments', async () => {
    expect((await patchedContainer({ args: ['--c'] })).args).toEqual(['--c'])
  })

  it('are removed with null', async () => {
    expect((await patchedContainer({ env: null })).env).toBeUndefined()
  })
})

describe('lists and maps of a pod', () => {
  it.each<[string, Json, string, Json]>([
    [
      'secrets are merged by name',
      { imagePullSecrets: [{ name: 'second' }] },
      'imagePullSecrets',
      [{ name: 'second' }, { name: 'first' }],
    ],
    [
      'host aliases are merged by address',
      { hostAliases: [{ ip: '1.2.3.4', hostnames: ['b'] }] },
      'hostAliases',
      [{ ip: '1.2.3.4', hostnames: ['b'] }],
    ],
    [
      'tolerations are replaced',
      { tolerations: [{ key: 'b', operator: 'Exists' }] },
      'tolerations',
      [{ key: 'b', operator: 'Exists' }],
    ],
    ['the node selector is merged', { nodeSelector: { zone: 'a' } }, 'nodeSelector', { disk: 'ssd', zone: 'a' }],
    [
      'the node selector is replaced by a directive',
      { nodeSelector: { $patch: 'replace', zone: 'a' } },
      'nodeSelector',
      { zone: 'a' },
    ],
    ['the node selector is deleted by a directive', { nodeSelector: { $patch: 'delete' } }, 'nodeSelector', undefined],
  ])('%s', async (_, patch, field, expected) => {
    expect((await patchedSpec(patch))[field]).toEqual(expected)
  })

  it('a volume can change its source with retainKeys', async () => {
    const { volumes } = await patchedSpec({
      volumes: [{ name: 'cache', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/cache' } }],
    })
    expect(volumes[0]).toEqual({ name: 'cache', hostPath: { path: '/cache', type: '' } })
  })

  it('a strategy can change its type with retainKeys', async () => {
    const name = 'strategy'
    const template = { metadata: { labels: { app: name } }, spec: podSpec }
    await deployments.given(name, { spec: { replicas: 0, selector: { matchLabels: { app: name } }, template } })
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }
    const { body } = await deployments.patch('strategic', name, patch, { query: 'dryRun=All' })
    expect(body.spec.strategy).toEqual({ type: 'Recreate' })
  })

  it('ports of a service are merged by number, so that a second one with the same number cannot be addressed', async () => {
    await services.given('ports', {
      spec: {
        ports: [
          { name: 'a', port: 53, protocol: 'TCP' },
          { name: 'b', port: 53, protocol: 'UDP' },
        ],
      },
    })
    const patch = { spec: { ports: [{ port: 53, targetPort: 5353 }] } }
    const { body } = await services.patch('strategic', 'ports', patch, { query: 'dryRun=All' })
    expect(body.spec.ports).toMatchObject([
      { name: 'a', port: 53, targetPort: 5353 },
      { name: 'b', port: 53, targetPort: 53 },
    ])
  })
})

describe('merged lists of scalars', () => {
  const patchedFinalizers = async (metadata: Json) => {
    const { body } = await templates.patch('strategic', 'pod', { metadata }, { query: 'dryRun=All' })
    return body.metadata.finalizers
  }

  it('get new values', async () => {
    expect(await patchedFinalizers({ finalizers: ['example.com/d'] })).toEqual([
      'example.com/d',
      'example.com/a',
      'example.com/b',
      'example.com/c',
    ])
  })

  it('lose values by a directive', async () => {
    const gone = ['example.com/b', 'example.com/unknown']
    expect(await patchedFinalizers({ '$deleteFromPrimitiveList/finalizers': gone })).toEqual([
      'example.com/a',
      'example.com/c',
    ])
  })

  it('are ordered by a directive', async () => {
    const order = ['example.com/c', 'example.com/d', 'example.com/b', 'example.com/a']
    const metadata = { '$setElementOrder/finalizers': order, finalizers: ['example.com/d'] }
    expect(await patchedFinalizers(metadata)).toEqual(order)
  })
})

describe('a strategic merge patch', () => {
  it.each<[string, string, Json, Json]>([
    ['sets fields', 'sets', { data: { b: '2' } }, { a: '1', b: '2' }],
    ['removes fields with null', 'removes', { data: { a: null } }, undefined],
  ])('%s', async (_, name, patch, data) => {
    await configMaps.given(name, { data: { a: '1' } })
    expect((await configMaps.patch('strategic', name, patch)).body.data).toEqual(data)
  })

  it('of a status does not change spec and labels', async () => {
    const name = 'status'
    const template = { metadata: { labels: { app: name } }, spec: podSpec }
    await deployments.given(name, { spec: { replicas: 0, selector: { matchLabels: { app: name } }, template } })
    const condition = { type: 'Tested', status: 'True', reason: 'ForFun', message: 'by a patch' }
    const { body } = await deployments.patch(
      'strategic',
      name,
      { metadata: { labels: { x: 'y' } }, spec: { paused: true }, status: { conditions: [condition] } },
      { subresource: 'status', query: 'dryRun=All' },
    )
    expect(body.metadata.labels).toBeUndefined()
    expect(body.spec.paused).toBeUndefined()
    expect(body.status.conditions).toContainEqual(expect.objectContaining(condition))
  })

  it.each<[string, Json, Json]>([
    [
      'an item without its key',
      { containers: [{ image: 'x' }] },
      failure({
        code: 500,
        message: 'map: map[image:x] does not contain declared merge key: name',
      }),
    ],
    [
      'an unknown directive',
      { containers: [{ name: 'web', $patch: 'explode' }] },
      failure({ code: 500, message: 'unknown patch type: explode in map: map[$patch:explode name:web]' }),
    ],
    [
      'an order that is not a list',
      { '$setElementOrder/containers': 'x' },
      failure({ code: 500, message: 'expected a []interface {}, but received a string' }),
    ],
  ])('with %s is rejected', async (_, spec, expected) => {
    const { status, body } = await templates.patch('strategic', 'pod', { template: { spec } }, { query: 'dryRun=All' })
    expect(body).toEqual(expected)
    expect(status).toBe(expected.code)
  })

  it('whose result does not match the kind is rejected with the patch', async () => {
    await configMaps.given('undecodable')
    const parts = { query: 'fieldValidation=Strict' }
    const { status, body } = await configMaps.patch('strategic', 'undecodable', { spec: { a: '1' } }, parts)
    expect(status).toBe(422)
    expect(body.message).toBe(
      ' "" is invalid: patch: Invalid value: "map[spec:map[a:1]]": strict decoding error: unknown field "spec"',
    )
  })

  it('that is a list is rejected', async () => {
    await configMaps.given('list')
    expect((await configMaps.patch('strategic', 'list', [])).body).toEqual(
      badRequest('json: cannot unmarshal array into Go value of type map[string]interface {}'),
    )
  })
})
