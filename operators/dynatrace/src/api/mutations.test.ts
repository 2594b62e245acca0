import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { objectSchema } from '@reeve/crd'
import type { KubeObject } from '@reeve/kube'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { API_GROUP, API_KINDS, type ApiKind } from './kinds.ts'
import { reviewBySchema } from './schema-review.ts'
import { arbitraryObject } from './testing/arbitrary-object.ts'
import { lookups } from './testing/lookups.ts'
import { mutate, mutations } from './testing/mutations.ts'
import { fieldInMessage } from './validation/field-in-message.ts'

/** Over all versions. More are tried with MUTATIONS=10000. */
const COUNT = Number(process.env.MUTATIONS ?? 1_500)
const SEED = Number(process.env.MUTATIONS_SEED ?? 7)

/** Longer than any review takes on a loaded machine, and shorter than anything that hangs. */
const PATIENCE_MS = 5_000

const cases = API_KINDS.flatMap((kind) =>
  Object.keys(kind.crd.versions).map((version) => [kind.crd.kind, version, kind] as const),
)

const samples: KubeObject[] = []
beforeAll(async () => {
  const folder = fileURLToPath(new URL('../../samples/', import.meta.url))
  for (const file of globSync('**/*.yaml', { cwd: folder })) {
    const documents = parseAllDocuments(await readFile(`${folder}${file}`, 'utf8'))
    samples.push(...documents.map((document) => document.toJS() as KubeObject))
  }
})

/** Schema, conversion and rules, as an object meets them; returns what stopped it, if anything did. */
async function admit({ crd, convert, judge }: ApiKind, version: string, object: KubeObject) {
  const review = reviewBySchema(crd, version, object)
  for (const { field, message } of review.problems) expect([field, message]).not.toContain('')
  if (review.problems.length > 0) return 'schema'
  for (const other of Object.keys(crd.versions)) {
    const converted = convert(review.object, other)
    expect(converted.apiVersion).toBe(`${API_GROUP}/${other}`)
    expect(convert(converted, version).kind).toBe(crd.kind)
  }
  const cluster = lookups({ namespaces: { shop: { team: 'a' } }, secrets: { a: { proxy: 'x' } } })
  const { errors, warnings } = await judge(review.object, () => cluster)
  for (const { message } of [...errors, ...warnings]) {
    expect(fieldInMessage(message, object), message).toBeDefined()
  }
  return errors.length > 0 ? 'rules' : 'nothing'
}

describe('a resource with random changes', () => {
  it.each(cases)(
    'to %s %s is refused with the name of a field, or admitted',
    { timeout: 30_000 + COUNT * 20 },
    async (kindName, version, kind) => {
      const ends = { schema: 0, rules: 0, nothing: 0 }
      let slowestMs = 0
      const own = samples.filter((sample) => sample.kind === kindName).map((sample) => kind.convert(sample, version))
      const random = arbitraryObject(objectSchema(kind.crd, version), `${API_GROUP}/${version}`, kindName)
      // The arbitrary follows the schema, which describes a Kubernetes object.
      const objects = fc.oneof(fc.constantFrom(...own), random as fc.Arbitrary<KubeObject>)
      await fc.assert(
        fc.asyncProperty(objects, mutations, async (object, changes) => {
          const startMs = performance.now()
          ends[await admit(kind, version, mutate(object, changes))]++
          slowestMs = Math.max(slowestMs, performance.now() - startMs)
        }),
        { numRuns: Math.ceil(COUNT / cases.length), seed: SEED },
      )
      expect(slowestMs).toBeLessThan(PATIENCE_MS)
      // Otherwise the changes are too tame or too wild to show anything.
      for (const count of [ends.schema, ends.rules]) expect(count).toBeGreaterThan(0)
    },
  )
})
