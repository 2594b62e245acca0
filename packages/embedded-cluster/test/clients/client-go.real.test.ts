/**
 * client-go on the embedded cluster, as part of the run on the real one: on a fresh machine only that run builds the
 * program.
 */
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { expect, test } from 'vitest'
import { clientGoProbe, EXPECTED } from './support/client-go-probe.ts'
import { ClientSession } from './support/client-session.ts'

test('client-go prints the same on the embedded cluster', { timeout: 600_000 }, async ({ skip }) => {
  const probe = await clientGoProbe()
  if ('missing' in probe) return skip(probe.missing)
  await using session = await ClientSession.open()
  await using embedded = await startEmbeddedCluster({ authorization: 'RBAC', nodes: 3 })
  await embedded.writeKubeconfig(`${session.folder}/embedded`)
  expect(await session.run(probe.path, ['--kubeconfig', 'embedded', '--namespace', 'default'])).toBe(EXPECTED)
})
