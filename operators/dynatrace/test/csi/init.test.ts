/** `csi-init` as a process beside a cluster. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runCaptured } from '@reeve/cli/testing'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { createClient, Namespaces } from '@reeve/kube'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DynaKubes } from '../../src/api/latest.ts'
import { main } from '../../src/cli/main.ts'
import { installCrds } from '../support/install-crds.ts'

const OPERATOR = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))

let cluster: EmbeddedCluster
let folder: string
beforeAll(async () => {
  cluster = await startEmbeddedCluster()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'csi-init-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))
afterAll(() => cluster?.stop())

/** Its arguments and its environment, with the data directory and kubeconfig of this test. */
const command = () => ({
  args: ['csi-init', `--data-root=${join(folder, 'data')}`],
  env: { PATH: process.env.PATH, KUBECONFIG: join(folder, 'kubeconfig') },
})

/** Runs it inside this process. */
async function init(): Promise<readonly [code: number, log: string]> {
  const { args, env } = command()
  const { code, stderr } = await runCaptured(main, args, { env })
  return [code, stderr]
}

describe('csi-init', () => {
  it('does what it can and exits 0 when the cluster knows no DynaKubes', async () => {
    await cluster.writeKubeconfig(join(folder, 'kubeconfig'))
    expect(await init()).toEqual([0, expect.stringContaining('cannot migrate the storage of host agents')])
    expect(await readdir(join(folder, 'data'))).toEqual(['appmounts'])
  })

  it('links the storage of host agents of the DynaKubes in the cluster, as a process', async () => {
    await cluster.writeKubeconfig(join(folder, 'kubeconfig'))
    const client = createClient({ transport: cluster.transport })
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dynatrace' } })
    await installCrds(client)
    await client.create(DynaKubes, {
      apiVersion: 'dynatrace.com/v1beta6',
      kind: 'DynaKube',
      metadata: { namespace: 'dynatrace', name: 'dk' },
      spec: { apiUrl: 'https://abc12345.live.dynatrace.com/api', oneAgent: { hostMonitoring: {} } },
    })
    const legacy = join(folder, 'data/abc12345/osagent')
    await mkdir(legacy, { recursive: true })
    const { args, env } = command()
    await promisify(execFile)(process.execPath, [OPERATOR, ...args], { env })
    expect(await readlink(join(folder, 'data/_dynakubes/dk/osagent'))).toBe(legacy)
  })

  it('exits 1 without a cluster', async () => {
    expect(await init()).toEqual([1, expect.stringContaining('kubeconfig')])
  })
})
