/** The client, informer and lister of docs/collector.md: typed by the definition of the resource. */
import { crdManifest } from '@reeve/crd'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { CustomResourceDefinitions, createClient } from '@reeve/kube'
import { Cache } from '@reeve/runtime/cache'
import { expect, expectTypeOf, test } from 'vitest'
import { CollectorCrd, Collectors } from '../src/index.ts'
import { collectorOf } from '../src/testing/collector.ts'

test('client, informer and lister of Collectors come from the definition of the resource, with the types of its fields', async () => {
  await using cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow' })
  const client = createClient({ transport: cluster.transport })
  // The manifest is what the server accepts; the built-in type spells its schema out.
  await client.create(CustomResourceDefinitions, crdManifest(CollectorCrd))
  await client.create(Collectors, { ...collectorOf(), metadata: { namespace: 'default', name: 'acme-logs' } })

  const collector = await client.get(Collectors, { namespace: 'default', name: 'acme-logs' })
  expectTypeOf(collector.spec.tenant.reference).toEqualTypeOf<string>()
  expectTypeOf(collector.status?.revision).toEqualTypeOf<number | undefined>()
  expect(collector.spec.tenant.reference).toBe('ACME')

  const ending = new AbortController()
  const cache = new Cache(client)
  const informer = cache.informer(Collectors, { namespace: 'default' })
  const running = cache.run(ending.signal)
  await cache.waitForSync(AbortSignal.timeout(30_000))
  expect(informer.list().map(({ metadata, spec }) => [metadata.name, spec.cluster])).toEqual([
    ['acme-logs', 'development'],
  ])
  ending.abort()
  await running
})
