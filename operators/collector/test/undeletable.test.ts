/** Releases whose records or manifests cannot be read, with the real helm: nothing of that stands in the way of deletion. */
import { ConfigMaps, isNotFound } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { helmPath, type Stage, setStage } from './support/stage.ts'
import { Tenants } from './support/tenants.ts'

/** Helm accepts it, and takes the last of the two. */
const TWICE = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  a: one
  a: two
`

describe.skipIf(helmPath === undefined)('a release (skipped where there is no helm)', () => {
  let stage: Stage
  let tenants: Tenants

  beforeAll(async () => {
    stage = await setStage()
    tenants = new Tenants(stage, 'twice')
    await stage.addChart('twice', TWICE)
    await stage.startOperator()
  })
  afterAll(() => stage?.close())

  test('with a key that its manifest has twice is available, and goes when its Collector goes', async () => {
    await tenants.create('dup', 'replicas: 0')
    await stage.untilPhase('dup', 'Available', 1)
    expect((await stage.client.get(ConfigMaps, tenants.releaseOf('dup'))).data).toEqual({ a: 'two' })
    await tenants.remove('dup')
    await stage.until(() => tenants.isGone('dup'))
    await expect(stage.client.get(ConfigMaps, tenants.releaseOf('dup'))).rejects.toSatisfy(isNotFound)
  })
})
