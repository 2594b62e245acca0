/** A Go program with client-go, unmodified: typed informers, errors and leader election. */
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { ensureClientProbe, findBinaries, findClientProbe, hasGo } from '@reeve/real-cluster'
import { beforeAll, describe, expect, test } from 'vitest'
import { ClientSession } from './support/client-session.ts'

/** What the program prints when everything is as Go operators expect it. */
const EXPECTED = [
  'server 1.35',
  'add first size=1',
  'add second size=1',
  'update second size=2',
  'delete second size=2',
  'delete first size=1',
  'conflict true',
  'already exists true',
  'not found true',
  'invalid true',
  'deployment ready',
  'leader first',
  'leader second',
  'lease second transitions=1',
  '',
].join('\n')

const isRealRun = process.env.REEVE_TEST_CLUSTER === 'real'

describe('client-go', () => {
  let probe: string | undefined
  let missing = ''

  // A run on the embedded cluster alone does not compile Kubernetes for minutes: it uses what has been built.
  beforeAll(async () => {
    probe = await findClientProbe()
    if (probe !== undefined) return
    if (!(await hasGo())) missing = 'Go is not on the PATH, and the program is written in Go'
    else if (isRealRun || (await findBinaries()) !== undefined) probe = await ensureClientProbe()
    else missing = 'the program is built by `npm run test:real`, which has not run on this machine'
  }, 600_000)

  for (const contentType of ['application/json', 'application/vnd.kubernetes.protobuf']) {
    test(`informers and leader election work with ${contentType}`, async ({ skip }) => {
      if (probe === undefined) return skip(missing)
      await using session = await ClientSession.open()
      const args = ['--kubeconfig', session.kubeconfigPath, '--namespace', session.namespace]
      expect(await session.run(probe, [...args, '--content-type', contentType])).toBe(EXPECTED)
    })
  }

  // The first run on a fresh machine may be the one on the real cluster: only then is the program there.
  test.runIf(isRealRun)('the embedded cluster is no different', async ({ skip }) => {
    if (probe === undefined) return skip(missing)
    await using session = await ClientSession.open()
    await using embedded = await startEmbeddedCluster({ authorization: 'RBAC', nodes: 3 })
    await embedded.writeKubeconfig(`${session.folder}/embedded`)
    expect(await session.run(probe, ['--kubeconfig', 'embedded', '--namespace', 'default'])).toBe(EXPECTED)
  })
})
