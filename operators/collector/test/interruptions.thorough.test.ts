/** Recovery from what crashes and failures leave behind, with the real helm. */
import { type ReleaseStatus, readReleases } from '@reeve/helm'
import { encodeRelease } from '@reeve/helm/testing'
import { Namespaces, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { revisionMarks } from '../src/decision/revision-marks.ts'
import { helmPath, type RunningOperator, type Stage, setStage } from './support/stage.ts'
import { Tenants } from './support/tenants.ts'

/** An object that only the API server refuses: by then Helm has recorded the revision. */
const FRAGILE = `{{- if .Values.pipeline.broken }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: Not_A_Name
{{- end }}
`

const INGREDIENTS = { chartDigest: `sha256:${'0'.repeat(64)}`, valuesDigest: `sha256:${'0'.repeat(64)}` }
const LONG_AGO = '2020-01-01T00:00:00Z'

describe.skipIf(helmPath === undefined)('a release (skipped without helm)', () => {
  let stage: Stage
  let operator: RunningOperator
  let tenants: Tenants

  beforeAll(async () => {
    stage = await setStage()
    tenants = new Tenants(stage, 'fragile')
    await stage.addChart('fragile', FRAGILE)
    operator = await stage.startOperator()
  })
  afterAll(() => stage?.close())

  /** The record that a helm leaves that was killed. */
  async function leaveRecord(name: string, revision: number, status: ReleaseStatus): Promise<void> {
    const marks = revisionMarks({ namespace: stage.namespace, name }, INGREDIENTS)
    const [first] = await readReleases(stage.client, tenants.releaseOf(name))
    const record = encodeRelease({
      ...tenants.releaseOf(name),
      ...first,
      ...marks,
      revision,
      status,
      lastDeployed: LONG_AGO,
    })
    await stage.client.create(Secrets, record)
  }

  test('whose install was killed is installed again', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: tenants.releaseOf('killed').namespace } }
    await stage.client.create(Namespaces, namespace)
    await stage.grantAccount(namespace.metadata.name)
    await leaveRecord('killed', 1, 'pending-install')
    await tenants.create('killed', 'replicas: 0')
    await stage.untilPhase('killed', 'Available', 1)
    expect(await tenants.statuses('killed')).toEqual(['deployed'])
  })

  test('whose upgrade was killed is rolled back and then upgraded', async () => {
    await tenants.create('cut', 'replicas: 0')
    await stage.untilPhase('cut', 'Available', 1)
    await operator.stop()
    await leaveRecord('cut', 2, 'pending-upgrade')
    await tenants.configure('cut', 'replicas: 1')
    operator = await stage.startOperator()
    await stage.untilPhase('cut', 'Available', 4)
    expect(await tenants.statuses('cut')).toEqual(['superseded', 'pending-upgrade', 'superseded', 'deployed'])
  })

  test('whose upgrade fails is rolled back, reports it, and is upgraded once the values are corrected', async () => {
    await tenants.create('broken', 'replicas: 0')
    await stage.untilPhase('broken', 'Available', 1)
    await tenants.configure('broken', 'replicas: 0\npipeline: {broken: true}')
    await stage.until(async () => (await tenants.statuses('broken')).length === 3)
    const { status } = await stage.untilPhase('broken', 'Degraded', 3)
    expect(await tenants.statuses('broken')).toEqual(['superseded', 'failed', 'deployed'])
    await tenants.untilReason('broken', 'Degraded', 'RolledBack')
    expect(status?.lastFailure?.message).toMatch(/Not_A_Name/)
    await tenants.configure('broken', 'replicas: 0\npipeline: {corrected: true}')
    await stage.untilPhase('broken', 'Available', 4)
  })

  test('whose upgrade fails is retried when it should not be rolled back', async () => {
    await tenants.create('onward', 'replicas: 0', { spec: { rollback: { onFailure: false } } })
    await stage.untilPhase('onward', 'Available', 1)
    await tenants.configure('onward', 'replicas: 0\npipeline: {broken: true}')
    expect(await tenants.untilReason('onward', 'Degraded', 'HelmObjectRefused')).toContain('Not_A_Name')
    const failures = async () => (await tenants.statuses('onward')).filter((status) => status === 'failed').length
    await stage.until(async () => (await failures()) === 2)
    await tenants.configure('onward', 'replicas: 0')
    await stage.untilPhase('onward', 'Available')
    expect((await tenants.statuses('onward')).at(-1)).toBe('deployed')
  })
})
