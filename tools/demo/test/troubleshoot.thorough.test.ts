/** The demo as a user leaves it running: the operator's own checks find nothing wrong with it. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findClientBinary } from '@reeve/client-binaries'
import { connect, Pods } from '@reeve/kube'
import { expect, it } from 'vitest'
import { linesOf, startDemo } from './support/demo-process.ts'

const operator = fileURLToPath(new URL('../../../operators/dynatrace/bin/dynatrace-operator.js', import.meta.url))
const hasHelm = (await findClientBinary('helm')) !== undefined

interface Finding {
  readonly check: string
  readonly status: string
  readonly message: string
}

/** Runs the real command; it rejects with an exit code other than 0. */
async function troubleshoot(kubeconfig: string, args: readonly string[]): Promise<readonly Finding[]> {
  const env = { PATH: process.env.PATH, KUBECONFIG: kubeconfig }
  const words = [operator, 'troubleshoot', '--output', 'json', ...args]
  const { stdout } = await promisify(execFile)(process.execPath, words, { env })
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
  return findings
}

it.skipIf(!hasHelm)(
  'npm start ends in a state in which troubleshoot passes, and stops by Ctrl-C (skipped without helm)',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-demo-'))
    try {
      await using demo = startDemo([], { cwd: folder })
      await demo.until((story) => story.includes('the samples are ready'))
      const kubeconfig = join(folder, '.reeve', 'kubeconfig')
      const findings = await troubleshoot(kubeconfig, ['--pod', await bookshopPod(kubeconfig)])
      expect(findings.filter(({ status }) => status === 'error' || status === 'warning')).toEqual([])
      const passed = findings.filter(({ status }) => status === 'ok').map(({ check }) => check)
      const checks = [
        'oneAgentAPM',
        'namespace',
        'crd',
        'clock',
        'webhook',
        'csi',
        'dynakube',
        'dynakube.imagepull',
        'pod',
      ]
      expect(passed).toEqual(expect.arrayContaining(checks))
      await demo.until((story) => story.includes('Ctrl-C ends the demo'))
      demo.interrupt()
      const { code, story, errors } = await demo.ended
      expect([code, errors]).toEqual([0, ''])
      expect(linesOf(story)).toContain('DynaKube dynakube Running')
      expect(story).toMatch(/^try: https:\/\/127\.0\.0\.1:\d+\/ in a browser: the simulated tenant/m)
      expect(story).toMatch(/stopped\n$/)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
  300_000,
)

/** Its application is injected, so one of its pods has something to explain. */
async function bookshopPod(kubeconfig: string): Promise<string> {
  const client = await connect({ kubeconfig, env: {} })
  try {
    const { items } = await client.list(Pods, { namespace: 'bookshop' })
    return `bookshop/${items[0]?.metadata.name}`
  } finally {
    await client.close()
  }
}
