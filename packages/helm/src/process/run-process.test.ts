import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ProcessRequest } from './process-runner.ts'
import { runProcess } from './run-process.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-process-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const shell = (script: string, options: Partial<ProcessRequest> = {}) =>
  runProcess({
    command: '/bin/sh',
    args: ['-c', script],
    env: { PATH: '/usr/bin:/bin' },
    cwd: folder,
    timeoutMs: 60_000,
    killGraceMs: 60_000,
    maxOutputBytes: 65_536,
    ...options,
  })

/** Resolves when the script has written the file. */
async function written(name: string): Promise<string> {
  for (;;) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '')
    if (text.endsWith('\n')) return text.trim()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** A process that is dead, or dead and not yet collected by its parent. */
async function isGone(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')
  return status.slice(status.lastIndexOf(')')).startsWith(') Z')
}

describe('runProcess', () => {
  it('gives input, environment and working folder, and takes output and exit code', async () => {
    const outcome = await shell('cat; echo "$NAME $HOME" >&2; pwd >&2; exit 3', { stdin: 'values', env: { NAME: 'x' } })
    expect(outcome).toMatchObject({ exitCode: 3, stdout: 'values', endedBy: 'exit', isTruncated: false })
    expect(outcome.stderr).toBe(`x \n${folder}\n`)
  })

  it('survives a command that does not read its input', async () => {
    expect(await shell('exit 0', { stdin: 'x'.repeat(1_000_000) })).toMatchObject({ exitCode: 0 })
  })

  it('rejects when the command cannot be started', async () => {
    await expect(shell('', { command: '/does/not/exist' })).rejects.toThrow('ENOENT')
  })

  it('keeps the beginning of the output and the end of the errors', async () => {
    const lines = 'i=0; while [ $i -lt 1000 ]; do echo line$i; i=$((i+1)); done'
    const outcome = await shell(`${lines}; { ${lines}; } >&2`, { maxOutputBytes: 100 })
    expect(outcome.isTruncated).toBe(true)
    expect(outcome.stdout.length).toBe(100)
    expect(outcome.stdout).toMatch(/^line0\n/)
    expect(outcome.stderr.length).toBe(100)
    expect(outcome.stderr).toMatch(/line999\n$/)
  })

  it('sends SIGTERM at the deadline, and reads the remaining output', async () => {
    const outcome = await shell('trap "echo recorded; exit 1" TERM; while :; do sleep 0.01; done', { timeoutMs: 200 })
    expect(outcome).toMatchObject({ exitCode: 1, stdout: 'recorded\n', endedBy: 'timeout' })
  })

  it('kills a command that ignores the request to end, and its children', async () => {
    const running = shell('trap "" TERM; (trap "" TERM; sleep 600) & echo $! > child; wait', {
      timeoutMs: 100,
      killGraceMs: 100,
    })
    const child = await written('child')
    expect(await running).toMatchObject({ exitCode: null, endedBy: 'timeout' })
    await expect.poll(() => isGone(child)).toBe(true)
  })

  it('leaves no child behind when the command exits', async () => {
    const outcome = await shell('sleep 600 & echo $! > child; exit 0')
    expect(outcome).toMatchObject({ exitCode: 0, endedBy: 'exit' })
    const child = await written('child')
    await expect.poll(() => isGone(child)).toBe(true)
  })

  it.runIf(process.platform === 'linux')(
    'kills a command that uses more memory than it may (skipped except on Linux)',
    async () => {
      const grow = 'x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done'
      const outcome = await shell(grow, { maxMemoryBytes: 64 * 1024 * 1024 })
      expect(outcome).toMatchObject({ exitCode: null, endedBy: 'memory' })
      expect(await shell('exit 0', { maxMemoryBytes: 64 * 1024 * 1024 })).toMatchObject({
        exitCode: 0,
        endedBy: 'exit',
      })
    },
  )

  it('ends the command when the signal aborts', async () => {
    const abort = new AbortController()
    const running = shell('echo started > child; exec sleep 600', { signal: abort.signal })
    await written('child')
    abort.abort()
    expect(await running).toMatchObject({ exitCode: null, endedBy: 'abort' })
  })

  it('starts nothing when the signal has aborted already', async () => {
    expect(await shell('echo > child', { signal: AbortSignal.abort() })).toMatchObject({ endedBy: 'abort' })
    expect(await readFile(join(folder, 'child'), 'utf8').catch(() => 'absent')).toBe('absent')
  })
})
