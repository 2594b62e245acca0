/** Built-in kinds are defaulted, normalized and validated as by a real API server. */
import { readFile } from 'node:fs/promises'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { suites } from './cases/index.ts'
import { awaitServiceAccount, perform, type Records } from './recorded-case.ts'

let cluster: ClusterUnderTest
let namespace: string

beforeAll(async () => {
  cluster = await openCluster()
  namespace = await cluster.createNamespace()
  await awaitServiceAccount(cluster.raw, namespace)
})
afterAll(() => cluster.close())

for (const [suite, cases] of Object.entries(suites)) {
  const file = new URL(`../golden/built-in-kinds/${suite}.json`, import.meta.url)
  const records: Records = JSON.parse(await readFile(file, 'utf8'))
  describe(suite.replaceAll('-', ' '), () => {
    it.each(cases.map((recorded) => [recorded.name, recorded] as const))('%s', async (name, recorded) => {
      const record = records[name]
      if (record === undefined) throw new Error('not recorded: run scripts/record-built-in-kinds.ts')
      expect(await perform(cluster.raw, namespace, recorded)).toEqual(record)
    })
  })
}
