/** The demo as a user starts it: it shows every scene and succeeds, or reports the failure. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

interface Ended {
  readonly code: number | null
  readonly story: string
  readonly errors: string
}

/** Runs it until it exits, or by Ctrl-C after a line was printed. */
async function start(args: readonly string[], stopAfter?: string): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...args], { cwd: root, env: { ...process.env, NO_COLOR: '1' } })
  let story = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    story += String(chunk)
    // A second signal would end it the hard way.
    if (stopAfter !== undefined && !child.killed && linesOf(story).includes(stopAfter)) child.kill('SIGINT')
  })
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, story, errors }
}

/** `subject word` of every line of the story, such as `DynaKube dynakube Running`. */
const linesOf = (story: string) =>
  [...story.matchAll(/^ *\d+\.\d s {2}(\S+ \S+) +(\S+)/gm)].map(([, subject, word]) => `${subject} ${word}`)

describe('npm start', () => {
  it('with --once shows every operator until its samples are ready, and exits', async () => {
    const { code, story, errors } = await start(['--once', '--timeout', '100'])
    expect(errors).toBe('')
    expect(code).toBe(0)
    expect(linesOf(story)).toEqual(
      expect.arrayContaining([
        'WebApp shop Ready',
        'DaemonSet dynatrace-oneagent-csi-driver available',
        'DaemonSet dynakube-oneagent available',
        'DaemonSet dynakube-node-config-collector available',
        'StatefulSet dynakube-activegate available',
        'StatefulSet dynakube-extension-controller available',
        'StatefulSet dynakube-otel-collector available',
        'DynaKube dynakube Running',
        'Deployment edgeconnect available',
        'EdgeConnect edgeconnect Running',
        'Deployment bookshop available',
      ]),
    )
    expect(story.match(/^.*Pod bookshop-\S+ +ready +injected by Dynatrace$/gm)).toHaveLength(2)
    expect(story).toContain('the samples are ready')
  }, 120_000)

  it('with too little time reports what is not ready, and fails', async () => {
    const { code, errors } = await start(['--once', '--timeout', '0.2'])
    expect(code).toBe(1)
    expect(errors).toMatch(/^not ready within 0\.2 s: \S+/)
  })

  it('ends with Ctrl-C as if nothing had happened', async () => {
    const { code, story, errors } = await start([], 'WebApp shop Ready')
    expect(errors).toBe('')
    expect(code).toBe(0)
    expect(story).toMatch(/stopped\n$/)
  })
})
