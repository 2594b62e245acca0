import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findClientBinary } from '@reeve/client-binaries'
import { ConsoleModel } from '@reeve/console'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { connect, isForbidden, Pods, Secrets } from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import { connectAsOperator } from '../src/operator-account.ts'

const helm = await findClientBinary('helm')

describe.skipIf(helm === undefined)('an operator of the demo (skipped without helm)', () => {
  it.each([
    { operator: 'webapp', release: 'webapp-operator', namespace: 'default' },
    { operator: 'dynatrace', release: 'dynatrace-operator', namespace: 'default' },
  ])('acts as the ServiceAccount of the chart of $operator, with no more rights', async (chart) => {
    await using cluster = await startEmbeddedCluster()
    const folder = await mkdtemp(join(tmpdir(), 'reeve-account-'))
    const kubeconfigPath = join(folder, 'kubeconfig')
    await cluster.writeKubeconfig(kubeconfigPath)
    const admin = await connect({ kubeconfig: kubeconfigPath })
    const stage = {
      client: admin,
      logger: silentLogger,
      kubeconfigPath,
      hasSimulatedNodes: true,
      console: new ConsoleModel(),
    }
    const client = await connectAsOperator(stage, chart, AbortSignal.timeout(60_000))
    const review = await client.raw<{ status: { userInfo: { username: string } } }>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    })
    expect(review.status.userInfo.username).toBe(`system:serviceaccount:default:${chart.release}`)
    await expect(client.list(Secrets)).rejects.toSatisfy(isForbidden)
    await expect(client.delete(Pods, { namespace: 'kube-system', name: 'x' })).rejects.toSatisfy(isForbidden)
    await client.close()
    await admin.close()
    await rm(folder, { recursive: true })
  })
})
