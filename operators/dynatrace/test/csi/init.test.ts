/** `csi-init` as a process beside a cluster. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { connect, Namespaces } from '@reeve/kube'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DynaKubes } from '../../src/api/latest.ts'
import { installCrds } from '../support/install-crds.ts'

const OPERATOR = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'csi-init-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Runs it with the data directory and kubeconfig of this test. */
function init(): Promise<{ readonly code: number; readonly log: string }> {
  const env = { PATH: process.env.PATH, KUBECONFIG: join(folder, 'kubeconfig') }
  const args = [OPERATOR, 'csi-init', `--data-root=${join(folder, 'data')}`]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, _, log) => resolve({ code: error ? Number(error.code) : 0, log }))
  })
}

describe('csi-init', () => {
  it('links the storage of host agents of the DynaKubes in the cluster', async () => {
    await using cluster = await startEmbeddedCluster()
    await cluster.writeKubeconfig(join(folder, 'kubeconfig'))
    const client = await connect({ kubeconfig: join(folder, 'kubeconfig') })
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dynatrace' } })
    await installCrds(client)
    await client.create(DynaKubes, {
      apiVersion: 'dynatrace.com/v1beta6',
      kind: 'DynaKube',
      metadata: { namespace: 'dynatrace', name: 'dk' },
      spec: { apiUrl: 'https://abc12345.live.dynatrace.com/api', oneAgent: { hostMonitoring: {} } },
    })
    await client.close()
    const legacy = join(folder, 'data/abc12345/osagent')
    await mkdir(legacy, { recursive: true })
    expect((await init()).code).toBe(0)
    expect(await readlink(join(folder, 'data/_dynakubes/dk/osagent'))).toBe(legacy)
  })

  it('does what it can and exits 0 when the cluster knows no DynaKubes', async () => {
    await using cluster = await startEmbeddedCluster()
    await cluster.writeKubeconfig(join(folder, 'kubeconfig'))
    const { code, log } = await init()
    expect([code, log]).toEqual([0, expect.stringContaining('cannot migrate the storage of host agents')])
    expect(await readdir(join(folder, 'data'))).toEqual(['appmounts'])
  })

  it('exits 1 without a cluster', async () => {
    const { code, log } = await init()
    expect([code, log]).toEqual([1, expect.stringContaining('kubeconfig')])
  })
})
