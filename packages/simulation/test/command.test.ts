import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { divergenceText } from '../src/report/report-text.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const reeve = fileURLToPath(new URL('../../cli/bin/reeve.js', import.meta.url))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const run = (program: string, args: readonly string[]): Promise<Ended> =>
  promisify(execFile)(program, args, { cwd: root }).then(
    (output) => ({ code: 0, ...output }),
    (error: Ended) => error,
  )

/** Interrupts the process as soon as its standard error has said this; all of what it says. */
async function interruptAt(child: ChildProcessWithoutNullStreams, beginning: string): Promise<string> {
  let said = ''
  for await (const chunk of child.stderr.setEncoding('utf8')) {
    const isNew = !said.includes(beginning)
    said += chunk
    if (isNew && said.includes(beginning)) child.kill('SIGINT')
  }
  return said
}

describe('reeve explore', () => {
  const module = join(root, 'packages/simulation/test/support/too-early.ts')
  const reeveExplore = (...args: readonly string[]) =>
    run(process.execPath, [reeve, 'explore', '--parallel', '1', ...args])

  it('explores the given module and prints a command that replays a divergence exactly, here in JSON', async () => {
    const first = await reeveExplore('--module', module, '--pattern', 'T1', '--points', '6')
    expect(first.code).toBe(1)
    expect(first.stderr).toMatch(
      /removes-finalizer-too-early crash-after-write: 6 points\n(.*\n)*.*: 6 runs, \d divergences?, .* s\n/,
    )
    expect(first.stdout).toMatch(/\n6 of \d+ points .* 6 took effect, \d divergences/)
    const [divergence = ''] = first.stdout.split('\n\n')
    expect(divergence).toContain('outside gift: exists only in the disturbed run')

    const command = /replay: (npm run explore -- .*)/.exec(divergence)?.[1] ?? ''
    const again = await run('sh', ['-c', `${command.replace('run', 'run --silent')} --output json`])
    expect(again.code).toBe(1)
    const [report] = JSON.parse(again.stdout).reports
    expect(report.patterns).toMatchObject([{ pattern: 'crash-after-write', explored: 1, missed: 0 }])
    expect(report.patterns[0].durationMs).toBeGreaterThan(0)
    expect(report.divergences[0].differences[0]).toMatchObject({ object: 'outside gift' })
    expect(divergenceText(report.divergences[0], report.operator, { module })).toContain(divergence)
  })

  it('ends when it is interrupted, with the report so far', async () => {
    const options = ['--parallel', '1', '--module', module, '--pattern', 'crash-after-write,failed-request']
    const child = spawn(process.execPath, [reeve, 'explore', ...options], { cwd: root })
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      interruptAt(child, 'crash-after-write: '),
      once(child, 'exit'),
    ])
    expect(stderr).toContain('\ninterrupted: ending the runs; once more ends everything at once\n')
    expect(stdout).toMatch(/\n\d+ of \d+ points .* divergences.*\n$/)
    expect(code).toBe(130)
  })

  it('fails when no point was run: a green run has tried something', async () => {
    const options = ['--module', module, '--pattern', 'crash-after-write']
    const [late, missing] = await Promise.all([
      reeveExplore(...options, '--budget', '0s'),
      reeveExplore(...options, '--point', '99999'),
    ])
    for (const { code, stderr } of [late, missing]) {
      expect(stderr).toContain('nothing was tried of removes-finalizer-too-early: raise --budget')
      expect(code).toBe(1)
    }
  })

  it('explains itself, and rejects what it does not understand', async () => {
    const [help, rejected] = await Promise.all([reeveExplore('--help'), reeveExplore('--pattern', 'T99')])
    expect(help.stdout).toContain('Examples:')
    expect(rejected.code).toBe(64)
    expect(rejected.stderr).toContain('unknown pattern "T99"; use one of undisturbed, crash-after-write')
  })
})
