/** What the process of a subcommand loads: the less, the sooner it responds, and containers start it often. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const RECORDER = path('support/record-modules.mjs')
const OPERATOR = path('../bin/dynatrace-operator.js')
const SAMPLE = path('../samples/dynakube/v1beta5/host-monitoring.yaml')

/** Runs the command in a separate process and returns what it printed and loaded, by package. */
async function run(...args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', RECORDER, OPERATOR, ...args])
  child.stdin.end()
  // Both are read concurrently, so that a full pipe does not block the child.
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
  ])
  const urls: readonly string[] = JSON.parse(errors.split('\n').at(-1) ?? '')
  const loaded = urls.filter((url) => url.startsWith('file:'))
  return { code, output, loaded, packages: [...new Set(loaded.map(packageOf))].sort() }
}

/** `yaml`, `packages/http`, `operators/dynatrace`. */
function packageOf(url: string): string {
  const [, installed] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  const [, own] = /\/((?:packages|operators)\/[^/]+)\//.exec(url) ?? []
  return installed ?? own ?? url
}

describe('a process of the operator', () => {
  it('loads only the command line to print its version', async () => {
    const { code, output, loaded, packages } = await run('--version')
    expect([code, output]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
    expect(packages).toEqual(['commander', 'operators/dynatrace', 'packages/cli'])
    expect(loaded.length).toBeLessThan(25)
  })

  it('loads one subcommand and none of its work to show its help', async () => {
    const { code, packages, loaded } = await run('validate', '--help')
    expect(code).toBe(0)
    expect(packages).toEqual(['commander', 'operators/dynatrace', 'packages/cli'])
    expect(loaded.filter((url) => url.includes('/src/api/'))).toEqual([])
  })

  it.each(['validate', 'convert'])('loads no server, client or logger to %s a file', async (name) => {
    const { packages } = await run(name, '-f', SAMPLE, ...(name === 'convert' ? ['--to', 'v1beta6'] : []))
    expect(packages).toContain('yaml')
    for (const heavy of ['packages/runtime', 'undici', 'pino', 'prom-client', '@peculiar/x509']) {
      expect(packages).not.toContain(heavy)
    }
  })

  it('loads neither the command line nor any library to prepare a pod', async () => {
    const metadata = ['--config-directory=/nowhere', '--input-directory=/nowhere', '--metadata-enrichment']
    const { code, packages } = await run('bootstrap', ...metadata)
    expect(code).toBe(0)
    expect(packages).toEqual(['operators/dynatrace', 'packages/http'])
  })
})
