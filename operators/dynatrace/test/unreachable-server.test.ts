/** Every subcommand that needs an API server ends its output with one plain sentence when there is none. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runWithoutServer } from '@reeve/cli/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from '../src/cli/main.ts'

const DYNAKUBE = `apiVersion: dynatrace.com/v1beta6
kind: DynaKube
metadata: { name: dynakube, namespace: dynatrace }
spec: { apiUrl: 'https://abc12345.live.dynatrace.com/api' }
`

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-unreachable-'))
  await writeFile(join(folder, 'dynakube.yaml'), DYNAKUBE)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.concurrent('without an API server', () => {
  it.each([
    ['operator', []],
    ['webhook-server', []],
    ['crd-storage-migration', []],
    ['support-archive', ['--stdout']],
    ['plan', ['-f', 'dynakube.yaml']],
  ])('%s exits 1 and says what to check', async (name, args) => {
    const env = {
      POD_NAMESPACE: 'dynatrace',
      POD_NAME: 'own-pod',
      APP_VERSION: '0.1.0',
      HEALTH_PROBE_BIND_ADDRESS: '127.0.0.1:0',
      METRICS_BIND_ADDRESS: '127.0.0.1:0',
      WEBHOOK_PORT: '0',
    }
    const words = args.map((word) => (word.endsWith('.yaml') ? join(folder, word) : word))
    const { code, stdout, stderr, server } = await runWithoutServer(main, [name, ...words], { env })
    expect([code, stdout]).toEqual([1, ''])
    const sentence = stderr.trimEnd().split('\n').at(-1)
    expect(sentence).toContain(`dynatrace-operator: cannot reach the API server ${server}: `)
    expect(sentence).toMatch(/ECONNREFUSED.*\. Check the address and whether the server runs\.$/)
    expect(stderr).not.toContain('hunter22')
  })

  it('csi-provisioner retries, says so once, and stops on a signal', async () => {
    const addresses = ['--health-probe-bind-address=127.0.0.1:0', '--metrics-bind-address=127.0.0.1:0']
    const { code, problems, server } = await runWithoutServer(
      main,
      ['csi-provisioner', `--data-root=${folder}`, '--log-level=debug', ...addresses],
      {
        env: { POD_NAMESPACE: 'dynatrace', KUBE_NODE_NAME: 'worker-1' },
        interruptOn: /interrupted.*interrupted/s,
      },
    )
    expect(code).toBe(0)
    // A minute later it would be said again.
    expect([...new Set(problems)]).toEqual([expect.stringContaining(`cannot reach the API server ${server} (`)])
  })

  it('troubleshoot reports it as its finding', async () => {
    const { code, stdout } = await runWithoutServer(main, ['troubleshoot', '--output', 'json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout).findings.at(-1)).toMatchObject({
      status: 'error',
      message: expect.stringContaining('ECONNREFUSED'),
      remedy: 'check the address and whether the server runs',
    })
  })
})
