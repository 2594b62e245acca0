import { crdManifest, defineConversion, defineCrd } from '@reeve/crd'
import { SimulatedClock } from '@reeve/http/testing'
import { ConfigMaps, type KubeClient, Namespaces } from '@reeve/kube'
import { allow, defineOperator, deny, desired, mutate, mutatingWebhook, validatingWebhook } from '@reeve/runtime'
import { conversionWebhook } from '@reeve/runtime/webhooks'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { runInMemory } from '../src/index.ts'

const GreetingCrd = defineCrd({
  group: 'example.com',
  kind: 'Greeting',
  plural: 'greetings',
  scope: 'Namespaced',
  versions: {
    v1: { spec: Type.Object({ text: Type.String(), tone: Type.String({ default: 'quiet' }) }), storage: true },
    v1beta1: { spec: Type.Object({ words: Type.Array(Type.String()) }) },
  },
})
const Greetings = GreetingCrd.resource('v1')
const OldGreetings = GreetingCrd.resource('v1beta1')
type Greeting = NonNullable<(typeof Greetings)['$type']>

const convert = defineConversion(GreetingCrd, 'v1', {
  v1beta1: {
    toHub: ({ metadata, spec }) => ({
      apiVersion: 'example.com/v1',
      kind: 'Greeting',
      metadata,
      spec: { text: spec.words.join(' '), tone: 'old' },
    }),
    fromHub: ({ metadata, spec }) => ({
      apiVersion: 'example.com/v1beta1',
      kind: 'Greeting',
      metadata,
      spec: { words: spec.text.split(' ') },
    }),
  },
})

const selected = { 'app.kubernetes.io/managed-by': 'greeter' }

function greeterThat(data: (greeting: Greeting) => Record<string, string>) {
  return defineOperator({
    name: 'greeter',
    controllers: [
      {
        for: Greetings,
        owns: [{ resource: ConfigMaps, labelSelector: 'app.kubernetes.io/managed-by=greeter' }],
        render: (greeting: Greeting) => [
          desired(ConfigMaps, {
            metadata: { name: greeting.metadata.name ?? '', namespace: 'default', labels: selected },
            data: data(greeting),
          }),
        ],
      },
    ],
    crds: [crdManifest(GreetingCrd)],
    webhooks: [
      validatingWebhook<Greeting>(
        '/validate',
        ({ object }) =>
          object?.spec.text.startsWith(' ')
            ? deny('spec.text must not begin with white space')
            : allow(object?.spec.text === 'bye' ? ['spec.text: it is early'] : []),
        { for: Greetings },
      ),
      mutatingWebhook<Greeting>(
        '/complete',
        ({ object }) =>
          object === undefined
            ? allow()
            : mutate({ ...object, metadata: { ...object.metadata, annotations: { seen: 'yes' } } }),
        { for: Greetings },
      ),
      conversionWebhook('/convert', [{ group: 'example.com', kind: 'Greeting', convert }]),
    ],
  })
}

const greeter = greeterThat(({ spec }) => ({ text: spec.text, tone: spec.tone }))
const hello = { metadata: { name: 'hello' }, spec: { text: 'hi' } }

test('an operator reaches its goal although the API server fails at first, and then rests', async () => {
  await using world = await runInMemory(greeter)
  world.fail({ verb: 'create', resource: ConfigMaps, times: 3 })
  await world.apply(Greetings, hello)
  await world.settle()
  expect((await world.get(ConfigMaps, 'hello')).data).toEqual({ text: 'hi', tone: 'quiet' })
  expect(await world.writesDuring('1h')).toBe(0)
  await world.patch(Greetings, 'hello', { spec: { text: 'good morning' } })
  await world.settle()
  expect((await world.get(ConfigMaps, 'hello')).data?.text).toBe('good morning')
  await world.delete(Greetings, 'hello')
  await world.settle()
  expect(await world.find(ConfigMaps, 'hello')).toBeUndefined()
  expect(await world.find(Greetings, 'hello')).toBeUndefined()
})

test('schema, validating, mutating and conversion webhooks are in force', async () => {
  await using world = await runInMemory(greeter)
  const withText = (text: unknown) => ({ metadata: { name: 'hello' }, spec: { text: text as string } })
  await expect(world.apply(Greetings, withText(7))).rejects.toThrow(/spec\.text/)
  await expect(world.apply(Greetings, withText(' hi'))).rejects.toThrow('must not begin with white space')
  const { metadata } = await world.apply(OldGreetings, { metadata: { name: 'old' }, spec: { words: ['good', 'day'] } })
  expect(metadata.annotations).toEqual({ seen: 'yes' })
  await world.settle()
  expect((await world.get(ConfigMaps, 'old')).data).toEqual({ text: 'good day', tone: 'old' })
})

test('a review says what the API server would store, reject and warn of, and stores nothing', async () => {
  await using world = await runInMemory(greeter)
  const review = (text: string) => world.review(Greetings, { metadata: { name: 'hello' }, spec: { text } })
  const accepted = await review('bye')
  expect(accepted.object).toMatchObject({ metadata: { annotations: { seen: 'yes' } }, spec: { tone: 'quiet' } })
  expect(accepted).toMatchObject({ rejection: undefined, warnings: ['spec.text: it is early'] })
  const rejected = await review(' hi')
  expect(rejected).toMatchObject({ object: undefined, warnings: [] })
  expect(rejected.rejection).toContain('spec.text must not begin with white space')
  expect(await world.list(Greetings)).toEqual([])
})

test('until returns the object, or says which status it has instead', async () => {
  await using world = await runInMemory(greeter)
  await world.apply(Greetings, hello)
  const map = await world.until(ConfigMaps, 'hello', ({ data }) => data?.text === 'hi')
  expect(map.data).toEqual({ text: 'hi', tone: 'quiet' })
  await expect(world.until(ConfigMaps, 'hello', () => false)).rejects.toThrow(
    /^ConfigMap hello has the status undefined/,
  )
  await expect(world.until(ConfigMaps, 'none', () => true)).rejects.toThrow(/^ConfigMap none does not exist: /)
})

test('a condition of until may let time pass itself', async () => {
  await using world = await runInMemory(greeter)
  await world.apply(Greetings, { metadata: { name: 'hello' }, spec: { text: 'hi' } })
  await world.until(async () => (await world.writesDuring('1m')) === 0)
  expect((await world.get(ConfigMaps, 'hello')).data).toMatchObject({ text: 'hi' })
})

test('an operator can be defined by what the cluster says, and share its time with the world outside', async () => {
  const clock = new SimulatedClock()
  const define = async (client: KubeClient) => {
    const { metadata } = await client.get(Namespaces, { name: 'kube-system' })
    return greeterThat(() => ({ cluster: metadata.uid }))
  }
  await using world = await runInMemory(define, { clock })
  await world.apply(Greetings, { metadata: { name: 'hello' }, spec: { text: 'hi' } })
  await world.until(async () => (await world.find(ConfigMaps, 'hello')) !== undefined)
  const { uid } = (await world.get(Namespaces, 'kube-system')).metadata
  expect((await world.get(ConfigMaps, 'hello')).data).toEqual({ cluster: uid })
  expect(world.clock).toBe(clock)
})

test('webhooks are found where manifests name their Service', async () => {
  const service = { service: { namespace: 'default', name: 'greeter' } }
  const ofChart = {
    ...greeter,
    crds: () => greeter.crds(service),
    webhookConfigurations: () => greeter.webhookConfigurations({ location: service }),
  }
  await using world = await runInMemory(ofChart)
  await expect(world.apply(Greetings, { metadata: { name: 'hello' }, spec: { text: ' hi' } })).rejects.toThrow(
    'white space',
  )
  await world.apply(OldGreetings, { metadata: { name: 'hello' }, spec: { words: ['good', 'day'] } })
  expect((await world.get(Greetings, 'hello')).spec.text).toBe('good day')
})

test('a standby takes over from a replica that is disconnected, which ends without another write', async () => {
  const candidate = (identity: string) => ({
    leaderElection: { lease: { namespace: 'default', name: 'greeter' }, identity },
  })
  await using world = await runInMemory(greeter, { options: candidate('first') })
  const [first] = world.replicas
  const second = world.start(candidate('second'))
  first?.disconnect()
  const authors: string[] = []
  world.cluster.requests.onRequest(({ verb, resource, userAgent }) => {
    if (verb === 'create' && resource === 'configmaps') authors.push(userAgent)
  })
  await world.apply(Greetings, hello)
  await world.until(ConfigMaps, 'hello', () => true)
  first?.reconnect()
  expect(await first?.ended()).toMatchObject({ code: 'LEADERSHIP_LOST' })
  expect(authors).toEqual([second.userAgent])
  expect(world.replicas).toEqual([second])
})

test('stop ends the operator', async () => {
  const world = await runInMemory(greeter)
  await world.stop()
  expect(world.log.map(({ message }) => message)).toContain('stopped')
})

test('objects exist before the operator starts, in their own namespaces', async () => {
  const metadata = { name: 'early', namespace: 'team' }
  const objects = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } }]
  await using world = await runInMemory(greeter, { objects })
  expect((await world.get(ConfigMaps, metadata)).data).toEqual({ a: 'b' })
})

test('what keeps failing is named with its error and its next attempt', async () => {
  await using world = await runInMemory(
    greeterThat(() => {
      throw new Error('the translator is closed')
    }),
  )
  await world.apply(Greetings, hello)
  await expect(world.settle()).rejects.toThrow(
    /not settled after 1h.*\n.*default\/hello: the translator is closed \(attempt \d+, the next in/,
  )
})

test('a render that is not pure is named with the field that it changes each time', async () => {
  let count = 0
  await using world = await runInMemory(greeterThat(() => ({ text: `${++count}` })))
  await world.apply(Greetings, hello)
  await expect(world.settle()).rejects.toThrow(
    /not settled after 1h.*\n.*default\/hello: its own writes cause the same writes again: ConfigMap default\/hello \(data.text\)/,
  )
  expect(count).toBeLessThan(50)
})

test('a restarted operator finds everything in order', async () => {
  await using world = await runInMemory(greeter)
  await world.apply(Greetings, hello)
  await world.settle()
  const { writes } = world.cluster.requests
  await world.restart()
  await world.settle()
  expect(world.cluster.requests.writes).toBe(writes)
  await world.patch(Greetings, 'hello', { spec: { text: 'again' } })
  await world.until(async () => (await world.find(ConfigMaps, 'hello'))?.data?.text === 'again')
})

test('an operator that ends by itself fails the test with its error', async () => {
  const broken = {
    ...greeter,
    create: () => ({ manager: { run: () => Promise.reject(new Error('no permission')) } }),
  }
  await expect(runInMemory(broken)).rejects.toThrow('no permission')
})
