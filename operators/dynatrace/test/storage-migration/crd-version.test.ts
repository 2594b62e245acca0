/** Whether the CRD is of the operator's release. */

import { SimulatedClock } from '@reeve/http/testing'
import { CustomResourceDefinitions, type KubeObject } from '@reeve/kube'
import type { Occurrence } from '@reeve/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CRD_VERSION_LABEL, CrdVersionCheck } from '../../src/controllers/crd-version/crd-version.ts'
import { DynaKubeCrd } from '../../src/index.ts'
import { type ClusterWithCrds, clusterWithCrds } from '../support/cluster-with-crds.ts'

const { name: CRD } = DynaKubeCrd
const object: KubeObject = { apiVersion: 'dynatrace.com/v1beta6', kind: 'DynaKube', metadata: { name: 'dynakube' } }

let cluster: ClusterWithCrds
let clock: SimulatedClock
let recorded: Occurrence[]
beforeEach(async () => {
  cluster = await clusterWithCrds()
  clock = new SimulatedClock()
  recorded = []
})
afterEach(() => cluster.stop())

const label = (version: string | null) =>
  cluster.client.patch(
    CustomResourceDefinitions,
    { name: CRD },
    { type: 'merge', patch: { metadata: { labels: { [CRD_VERSION_LABEL]: version } } } },
  )
const request = () => ({
  client: cluster.client,
  clock,
  signal: AbortSignal.timeout(60_000),
  events: { record: (_: KubeObject, occurrence: Occurrence) => void recorded.push(occurrence) },
})

describe('the check of the CRD before a reconcile', () => {
  it('says nothing about one of the same release', async () => {
    await label('1.8.1')
    await new CrdVersionCheck({ crd: CRD, version: '1.8.1' }).run(object, request())
    expect(recorded).toEqual([])
  })

  it('reports one of another release and continues', async () => {
    await label('1.7.0')
    await new CrdVersionCheck({ crd: CRD, version: '1.8.1' }).run(object, request())
    expect(recorded).toMatchObject([{ type: 'Warning', reason: 'CRDVersionMismatch' }])
  })

  it('fails without the label until there is one', async () => {
    const check = new CrdVersionCheck({ crd: CRD, version: '1.8.1' })
    await label(null)
    await expect(check.run(object, request())).rejects.toMatchObject({ code: 'CRD_VERSION_UNKNOWN' })
    await label('1.8.1')
    await check.run(object, request())
  })

  it('fails without the CRD', async () => {
    const check = new CrdVersionCheck({ crd: 'others.dynatrace.com', version: '1.8.1' })
    await expect(check.run(object, request())).rejects.toMatchObject({ code: 'CRD_VERSION_UNKNOWN' })
  })

  it('caches what it read for five minutes', async () => {
    const check = new CrdVersionCheck({ crd: CRD, version: '1.8.1' })
    await label('1.8.1')
    await check.run(object, request())
    await label('1.7.0')
    await clock.advance(4 * 60_000)
    await check.run(object, request())
    expect(recorded).toEqual([])
    await clock.advance(2 * 60_000)
    await check.run(object, request())
    expect(recorded).toHaveLength(1)
  })
})
