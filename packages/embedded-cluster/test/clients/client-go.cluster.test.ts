/** A Go program with client-go, unmodified: typed informers, errors and leader election. */
import { beforeAll, describe, expect, test } from 'vitest'
import { clientGoProbe, EXPECTED, type Probe } from './support/client-go-probe.ts'
import { ClientSession } from './support/client-session.ts'

describe('client-go', () => {
  let probe: Probe
  beforeAll(async () => {
    probe = await clientGoProbe()
  }, 600_000)

  for (const contentType of ['application/json', 'application/vnd.kubernetes.protobuf']) {
    test(`informers and leader election work with ${contentType}`, async ({ skip }) => {
      if ('missing' in probe) return skip(probe.missing)
      await using session = await ClientSession.open()
      const args = ['--kubeconfig', session.kubeconfigPath, '--namespace', session.namespace]
      expect(await session.run(probe.path, [...args, '--content-type', contentType])).toBe(EXPECTED)
    })
  }
})
