import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)
const reeve = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

describe('reeve explore', () => {
  const module = join(root, 'packages/simulation/test/support/too-early.ts')
  const reeveExplore = (...args: readonly string[]) =>
    run(process.execPath, [reeve, '--threads', '1', ...args], { cwd: root }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    )

  it('explores the given module and reports in JSON', { timeout: 600_000 }, async () => {
    const { code, stdout, stderr } = await reeveExplore(
      '--module',
      module,
      '--pattern',
      'T1',
      '--max-points',
      '6',
      '--output',
      'json',
    )
    const { reports } = JSON.parse(stdout)
    expect(code).toBe(1)
    expect(reports[0].patterns[0]).toMatchObject({ pattern: 'crash-after-write', explored: 6, missed: 0 })
    expect(reports[0].patterns[0].durationMs).toBeGreaterThan(0)
    expect(stderr).toMatch(
      /removes-finalizer-too-early crash-after-write: 6 points\n(.*\n)*.*: 6 runs, \d divergences?, .* s\n/,
    )
    expect(reports[0].divergences[0].differences[0]).toMatchObject({ object: 'outside gift' })
  })

  it('prints a command that replays the divergence exactly', { timeout: 600_000 }, async () => {
    const first = await reeveExplore('--module', module, '--pattern', 'T1', '--max-points', '6')
    expect(first.code).toBe(1)
    const command = /replay: (npm run explore -- .*)/.exec(first.stdout)?.[1] ?? ''
    const again = await run('sh', ['-c', command], { cwd: root }).then(
      () => ({ code: 0, stdout: '' }),
      (error: { code: number; stdout: string }) => error,
    )
    expect(again.code).toBe(1)
    const [divergence = ''] = first.stdout.split('\n\n')
    expect(divergence).toContain('outside gift: exists only in the disturbed run')
    expect(again.stdout).toContain(divergence)
  })

  it('explains itself, and rejects what it does not understand', { timeout: 60_000 }, async () => {
    expect((await reeveExplore('--help')).stdout).toContain('Examples:')
    const refused = await reeveExplore('--pattern', 'T99')
    expect(refused.code).toBe(64)
    expect(refused.stderr).toContain('unknown pattern "T99"; use one of undisturbed, crash-after-write')
  })
})
