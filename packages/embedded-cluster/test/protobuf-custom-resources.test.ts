/**
 * Custom resources have no protobuf form. A real server breaks the connection here, so this is only tested on the
 * embedded cluster.
 */
import { openCluster } from '@reeve/cluster-under-test'
import { expect, test } from 'vitest'
import { body } from '../src/protobuf/testing/wire-writer.ts'
import { establish, uniqueGroup } from './support/definition.ts'

test('a custom resource in protobuf is rejected with 415, and the response lists the accepted types', async () => {
  await using cluster = await openCluster()
  const namespace = await cluster.createNamespace()
  const group = uniqueGroup()
  await establish(cluster, group)
  const response = await cluster.raw.send({
    method: 'POST',
    path: `/apis/${group}/v1/namespaces/${namespace}/widgets`,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: body(`${group}/v1`, 'Widget'),
  })
  expect(response.status).toBe(415)
  expect(response.json()).toMatchObject({
    reason: 'UnsupportedMediaType',
    message: expect.stringContaining('application/json, application/yaml'),
  })
})
