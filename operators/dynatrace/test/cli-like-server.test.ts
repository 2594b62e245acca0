/** What `validate` says without a cluster is what an API server says. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { KubeObject } from '@reeve/kube'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { API_GROUP, API_KINDS } from '../src/api/kinds.ts'
import { reviewBySchema } from '../src/api/schema-review.ts'
import { mutate, mutations } from '../src/api/testing/mutations.ts'
import { type ClusterWithCrds, clusterWithCrds } from './support/cluster-with-crds.ts'

/** For each version. More are tried with MUTATIONS=10000. */
const RUNS = Number(process.env.MUTATIONS ?? 100)

/** Headers change other characters in transit. */
const isPlain = (field: string): boolean => /^[ -~]*$/.test(field)

const served = API_KINDS.flatMap(({ crd, convert }) =>
  Object.entries(crd.versions).flatMap(([version, { served: isServed = true }]) =>
    isServed ? [[crd.kind, version, { crd, convert }] as const] : [],
  ),
)

const samples: KubeObject[] = []
let cluster: ClusterWithCrds
beforeAll(async () => {
  const folder = fileURLToPath(new URL('../samples/', import.meta.url))
  for (const file of globSync('**/*.yaml', { cwd: folder })) {
    const documents = parseAllDocuments(await readFile(`${folder}${file}`, 'utf8'))
    samples.push(...documents.map((document) => document.toJS() as KubeObject))
  }
  cluster = await clusterWithCrds()
})
afterAll(() => cluster.stop())

describe('a review without a cluster', () => {
  it.each(served)(
    'of a changed %s %s refuses what a server refuses',
    { timeout: 30_000 + RUNS * 50 },
    async (kind, version, { crd, convert }) => {
      const own = samples.filter((sample) => sample.kind === kind).map((sample) => convert(sample, version))
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...own), mutations, async (sample, changes) => {
          // Whole numbers beyond 64 bits are integers here, and none for a server.
          fc.pre(!/\d{17}|e\+/.test(JSON.stringify(changes)))
          const { spec } = sample as KubeObject & { readonly spec: object }
          const object = { ...sample, ...mutate({ spec }, changes) }
          const { problems, unknownFields } = reviewBySchema(crd, version, object)
          const answer = await cluster.dryRun(
            `/apis/${API_GROUP}/${version}/namespaces/dynatrace/${crd.plural}`,
            object,
          )
          const isRefused = answer.status !== 201
          expect(isRefused, answer.message).toBe(problems.length > 0)
          // A server that refuses an object does not say which of its fields it would have dropped.
          if (!isRefused)
            expect(answer.unknownFields.filter(isPlain).toSorted()).toEqual(unknownFields.filter(isPlain).toSorted())
        }),
        { numRuns: RUNS, seed: 7 },
      )
    },
  )
})
