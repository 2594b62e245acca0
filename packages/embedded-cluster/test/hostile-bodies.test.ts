/** Bodies that try to exhaust the server: it rejects them, and works on. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CONFIG_MAPS, configMap, InProcess } from './support/in-process.ts'

let cluster: InProcess

beforeEach(async () => {
  cluster = await InProcess.start()
})
afterEach(() => cluster.stop())

const yaml = { headers: { 'content-type': 'application/yaml' } }
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** A kind whose spec may be anything. */
async function defineWidgets(): Promise<string> {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  }
  await cluster.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Widget', plural: 'widgets' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  return '/apis/example.com/v1/namespaces/default/widgets'
}

const widget = (spec: string) =>
  `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":${spec}}`

describe('a body that is nested too deep', () => {
  test('is rejected with the reason, whatever else is in it', async () => {
    const path = await defineWidgets()
    for (const spec of [
      `{"a":${nested(1_001)}}`,
      `{"a":${nested(1_000_000)}}`,
      `{"b":"\\ud800","a":${nested(20_000)}}`,
    ]) {
      const { status, body } = await cluster.send('POST', path, widget(spec))
      expect(status).toBe(400)
      expect(body.message).toContain('exceeded max depth')
    }
  })

  test('cannot be put together by copies in a JSON patch', async () => {
    const path = await defineWidgets()
    const spec = `{"a":${'{"a":'.repeat(900)}{}${'}'.repeat(900)}}`
    expect((await cluster.send('POST', path, widget(spec))).status).toBe(201)
    const copy = { op: 'copy', from: '/spec/a', path: `/spec${'/a'.repeat(900)}/a` }
    for (const operations of [[copy], Array.from({ length: 50 }, () => copy)]) {
      expect((await cluster.patch(`${path}/w`, operations, 'json')).status).toBe(422)
    }
    expect((await cluster.send('GET', `${path}/w`)).status).toBe(200)
  })

  test.each([
    ['brackets', `data: ${nested(20_000)}`],
    ['question marks', `${'? '.repeat(20_000)}a`],
    ['an alias inside the value that it refers to', 'data: &a {b: *a}'],
  ])('is rejected in YAML, by %s', async (_name, text) => {
    const { status, body } = await cluster.send('POST', CONFIG_MAPS, text, yaml)
    expect(status).toBe(400)
    expect(body.message).toContain('nested deeper than 1000 levels')
  })
})

test('YAML with very many aliases is rejected', async () => {
  const text = Array.from({ length: 1_001 }, (_, index) => `- &a${index} x\n- *a${index}`).join('\n')
  const { status, body } = await cluster.send('POST', CONFIG_MAPS, text, yaml)
  expect(status).toBe(400)
  expect(body.message).toContain('more than 1000 aliases')
})

describe('an object with very many owners', () => {
  const owners = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      name: 'p',
      uid: `u-${index}`,
      ...more,
    }))

  test('is stored without comparing each with all others', async () => {
    const { status } = await cluster.send('POST', CONFIG_MAPS, configMap('a', {}, { ownerReferences: owners(10_000) }))
    expect(status).toBe(201)
  })

  test('that all claim to be its controller is rejected by a message of bounded size', async () => {
    const ownerReferences = owners(2_000, { controller: true })
    const { status, text } = await cluster.send('POST', CONFIG_MAPS, configMap('a', {}, { ownerReferences }))
    expect(status).toBe(422)
    expect(text).toContain('Only one reference can have Controller set to true')
    expect(text.length).toBeLessThan(3_000_000)
  })
})

test('an object with very many mistakes gets a list of the first thousand', async () => {
  const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`label-${index}`, '!']))
  const { status, body } = await cluster.send('POST', CONFIG_MAPS, configMap('a', {}, { labels }))
  expect(status).toBe(422)
  expect(body.details.causes).toHaveLength(1_000)
})

describe('names that every JavaScript object has', () => {
  const names = '"__proto__":"a","constructor":"b","toString":"c","hasOwnProperty":"d"'

  test('are keys like any other, in every kind of patch', async () => {
    const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{${names}}}`
    const created = await cluster.send('POST', CONFIG_MAPS, object)
    expect(created.status).toBe(201)
    expect(created.text).toContain(`"data":{${names}}`)
    for (const type of ['merge', 'strategic-merge'] as const) {
      const patched = await cluster.patch(`${CONFIG_MAPS}/a`, '{"data":{"__proto__":"z","constructor":null}}', type)
      expect(patched.status).toBe(200)
      expect(Object.entries(patched.body.data)).toContainEqual(['__proto__', 'z'])
      expect(Object.keys(patched.body.data)).not.toContain('constructor')
    }
    const applied = await cluster.patch(`${CONFIG_MAPS}/b?fieldManager=x`, object.replace('"a"}', '"b"}'), 'apply')
    expect(applied.text).toContain('"__proto__":"a"')
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('z')
  })

  test('lead nowhere in a JSON pointer', async () => {
    await cluster.send('POST', CONFIG_MAPS, configMap('a'))
    for (const path of ['/__proto__/polluted', '/constructor/prototype/polluted', '/data/__proto__/polluted']) {
      expect((await cluster.patch(`${CONFIG_MAPS}/a`, [{ op: 'add', path, value: 1 }], 'json')).status).toBe(422)
    }
    expect('polluted' in {}).toBe(false)
  })
})
