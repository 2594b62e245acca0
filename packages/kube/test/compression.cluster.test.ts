/** Compressed lists against a whole API server. Passes on the embedded cluster and on a real one. */
import { type TransportRequest, UndiciTransport } from '@reeve/http'
import { ConfigMaps, createClient } from '@reeve/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

let cluster: TestCluster
beforeAll(async () => {
  cluster = await openTestCluster()
})
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
})

it('a list above 128 KiB arrives compressed and complete, a small one as it is', async () => {
  const { namespace, client, config } = cluster
  const transport = new UndiciTransport(config)
  const encodings: unknown[] = []
  let bytes = 0
  const counting = {
    send: async (request: TransportRequest) => {
      const response = await transport.send(request)
      encodings.push(response.headers['content-encoding'])
      async function* counted() {
        for await (const chunk of response.body) {
          bytes += chunk.byteLength
          yield chunk
        }
      }
      return { ...response, body: counted() }
    },
    close: () => transport.close(),
  }
  const compressed = createClient({ transport: counting, compressLists: true })
  const selection = { namespace, labelSelector: 'suite=compression' }
  const create = (name: string) =>
    client.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name, labels: { suite: 'compression' } },
      data: { text: `${name} and so on, `.repeat(2_000) },
    })
  await create('first')
  expect((await compressed.list(ConfigMaps, selection)).items).toHaveLength(1)
  for (const name of ['second', 'third', 'fourth', 'fifth']) await create(name)
  bytes = 0
  const list = await compressed.list(ConfigMaps, selection)
  expect(encodings).toEqual([undefined, 'gzip'])
  // Other suites write meanwhile: the resourceVersion of the list is theirs too.
  expect(list.items).toEqual((await client.list(ConfigMaps, selection)).items)
  expect(JSON.stringify(list).length).toBeGreaterThan(5 * bytes)
  await compressed.close()
})
