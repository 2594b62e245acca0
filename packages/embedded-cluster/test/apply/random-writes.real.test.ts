/** Compares random sequences of writes on a real API server with this implementation. */
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { type RecordedStep, replay } from './replay-recording.ts'

const group = 'apply.reeve.test'
const apiVersion = `${group}/v1`
const kind = 'Sample'

const item: Schema = {
  type: 'object',
  required: ['k'],
  properties: {
    k: { type: 'string' },
    p: { type: 'string', default: 'TCP' },
    v: { type: 'integer' },
    m: { type: 'object', additionalProperties: { type: 'string' } },
  },
}
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        text: { type: 'string' },
        struct: {
          type: 'object',
          properties: { a: { type: 'string' }, b: { type: 'object', properties: { c: { type: 'integer' } } } },
        },
        atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
        list: { type: 'array', items: { type: 'string' } },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        keyed: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k', 'p'],
          items: item,
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
        maybe: { type: 'object', nullable: true, properties: { a: { type: 'string', nullable: true } } },
      },
    },
  },
}

const short = fc.constantFrom('a', 'b', 'c')
const anything = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    short,
    fc.nat(3),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(short, tie('value')),
  ),
})).value
const some = { requiredKeys: [] }
const spec = fc.record(
  {
    text: short,
    struct: fc.record({ a: short, b: fc.record({ c: fc.nat(3) }, some) }, some),
    atomic: fc.record({ a: short }, some),
    map: fc.dictionary(short, fc.record({ a: short }, some)),
    list: fc.array(short, { maxLength: 2 }),
    set: fc.uniqueArray(short),
    keyed: fc.uniqueArray(
      fc.record(
        { k: short, p: fc.constantFrom('TCP', 'UDP'), v: fc.nat(3), m: fc.dictionary(short, short) },
        { requiredKeys: ['k'] },
      ),
      { selector: ({ k, p = 'TCP' }) => `${k}/${p}` },
    ),
    free: fc.dictionary(short, anything),
    any: anything,
    maybe: fc.option(fc.record({ a: fc.option(short) }, some)),
  },
  some,
)
const metadata: fc.Arbitrary<JsonObject> = fc.record(
  { labels: fc.dictionary(short, short), annotations: fc.dictionary(short, short) },
  some,
)
const write = fc.record({
  do: fc.constantFrom('apply' as const, 'apply' as const, 'apply' as const, 'merge' as const, 'put' as const),
  manager: fc.constantFrom('m1', 'm2', 'm3'),
  force: fc.boolean(),
  metadata,
  spec,
})

const contentTypes = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  put: 'application/json',
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

let cluster: ClusterUnderTest
let collection: string

beforeAll(async () => {
  cluster = await openCluster()
  const namespace = await cluster.createNamespace()
  collection = `/apis/${apiVersion}/namespaces/${namespace}/samples`
  await cluster.raw.send({
    method: 'POST',
    path: definitions,
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `samples.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural: 'samples' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    },
  })
  // Each attempt waits for a response; the timeout of the hook ends the loop if the definition is never served.
  while ((await cluster.raw.send({ path: collection })).status !== 200) await new Promise(setImmediate)
})

afterAll(async () => {
  await cluster.raw.send({ method: 'DELETE', path: `${definitions}/samples.${group}` })
  await cluster.close()
})

describe('server-side apply and updates', () => {
  let sequence = 0

  it('produce the same object and the same managedFields as on a real API server', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 5, maxLength: 12 }), async (writes) => {
        replay(schema, apiVersion, await record(`s${sequence++}`, writes), true)
      }),
      { numRuns: 40, seed: 20, endOnFailure: true },
    )
  })

  type Write = typeof write extends fc.Arbitrary<infer T> ? T : never

  /** Sends the writes to the server; the first one creates. */
  async function record(name: string, writes: readonly Write[]): Promise<RecordedStep[]> {
    const steps: RecordedStep[] = []
    let resourceVersion: JsonValue | undefined
    for (const [index, { do: verb, manager, force, metadata: meta, spec: value }] of writes.entries()) {
      const operation = index === 0 ? 'apply' : verb
      const body: JsonObject =
        operation === 'merge' ? { spec: value } : { apiVersion, kind, metadata: { name, ...meta }, spec: value }
      const answer = await cluster.raw.send({
        method: operation === 'put' ? 'PUT' : 'PATCH',
        path: `${collection}/${name}?fieldManager=${manager}${operation === 'apply' && force ? '&force=true' : ''}`,
        headers: { 'content-type': contentTypes[operation] },
        body: operation === 'put' ? { ...body, metadata: { name, ...meta, resourceVersion } } : JSON.stringify(body),
      })
      const result = answer.json<JsonObject>()
      const isDone = answer.status < 300
      if (isDone && isJsonObject(result.metadata)) resourceVersion = result.metadata.resourceVersion
      const outcome = isDone ? { object: recordable(result) } : { code: answer.status, message: String(result.message) }
      steps.push({ do: operation, manager, force, body, ...outcome })
    }
    return steps
  }
})

/** An object without fields that differ between runs. */
function recordable(object: JsonObject): JsonObject {
  const { uid, resourceVersion, creationTimestamp, generation, namespace, ...rest } = isJsonObject(object.metadata)
    ? object.metadata
    : {}
  return { ...object, metadata: { ...rest, namespace: 'default' } }
}
