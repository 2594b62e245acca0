/** Releases whose records or manifests cannot be read can be deleted, with the real helm. */
import { ConfigMaps, isNotFound, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { helmPath, type Stage, setStage } from './support/stage.ts'
import { Tenants } from './support/tenants.ts'

/** Helm accepts it and uses the last of the two. */
const TWICE = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  a: one
  a: two
`

describe.skipIf(helmPath === undefined)('a release (skipped without helm)', () => {
  let stage: Stage
  let tenants: Tenants

  beforeAll(async () => {
    stage = await setStage()
    tenants = new Tenants(stage, 'twice')
    await stage.addChart('twice', TWICE)
    await stage.startOperator()
  })
  afterAll(() => stage?.close())

  test('with a duplicate key in its manifest is available, and uninstalled with its Collector', async () => {
    await tenants.create('dup', 'replicas: 0')
    await stage.untilPhase('dup', 'Available', 1)
    expect((await stage.client.get(ConfigMaps, tenants.releaseOf('dup'))).data).toEqual({ a: 'two' })
    await tenants.remove('dup')
    await stage.until(() => tenants.isGone('dup'))
    await expect(stage.client.get(ConfigMaps, tenants.releaseOf('dup'))).rejects.toSatisfy(isNotFound)
  })

  /** Replaces the content of a record, as an accident might. */
  async function spoil(name: string, revision: number): Promise<void> {
    const { namespace, name: release } = tenants.releaseOf(name)
    const key = { namespace, name: `sh.helm.release.v1.${release}.v${revision}` }
    const patch = { data: { release: Buffer.from('nonsense').toString('base64') } }
    await stage.client.patch(Secrets, key, { type: 'merge', patch })
  }

  test('with an old record that cannot be read is uninstalled with its Collector', async () => {
    await tenants.create('old', 'replicas: 0')
    await stage.untilPhase('old', 'Available', 1)
    await tenants.configure('old', 'replicas: 0\nport: 81')
    await stage.untilPhase('old', 'Available', 2)
    await spoil('old', 1)
    await tenants.remove('old')
    await stage.until(() => tenants.isGone('old'))
    await expect(stage.client.get(ConfigMaps, tenants.releaseOf('old'))).rejects.toSatisfy(isNotFound)
    expect(await recordsOf('old')).toEqual([])
  })

  test('with only unreadable records does not keep its Collector from being deleted, and leaves no record', async () => {
    await tenants.create('lost', 'replicas: 0')
    await stage.untilPhase('lost', 'Available', 1)
    await spoil('lost', 1)
    await tenants.remove('lost')
    await stage.until(() => tenants.isGone('lost'))
    expect(await recordsOf('lost')).toEqual([])
  })

  async function recordsOf(name: string): Promise<readonly string[]> {
    const { namespace } = tenants.releaseOf(name)
    const { items } = await stage.client.listAll(Secrets, { namespace, labelSelector: 'owner=helm' })
    return items.map(({ metadata }) => metadata.name)
  }
})
