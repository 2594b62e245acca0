/** Custom resources have no protobuf form. A real server breaks the connection here, so this is ours alone. */
import { openCluster } from '@reeve/cluster-under-test'
import { expect, test } from 'vitest'
import { body } from '../src/protobuf/testing/wire-writer.ts'
import { establish, uniqueGroup } from './support/definition.ts'

test('a custom resource in protobuf is refused with 415, and the answer names what is accepted', async () => {
  await using cluster = await openCluster()
  const namespace = await cluster.createNamespace()
  const group = uniqueGroup()
  await establish(cluster, group)
  const answer = await cluster.raw.send({
    method: 'POST',
    path: `/apis/${group}/v1/namespaces/${namespace}/widgets`,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: body(`${group}/v1`, 'Widget'),
  })
  expect(answer.status).toBe(415)
  expect(answer.json()).toMatchObject({
    reason: 'UnsupportedMediaType',
    message: expect.stringContaining('application/json, application/yaml'),
  })
})
