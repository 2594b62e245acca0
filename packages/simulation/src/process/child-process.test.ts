import { tmpdir } from 'node:os'
import { afterEach, expect, it } from 'vitest'
import { Child } from './child-process.ts'

const WAIT = { timeout: 25_000, interval: 20 }

let child: Child | undefined
afterEach(() => child?.signal('SIGKILL'))

/** Starts a shell command; its lines so far. */
function started(command: string): { readonly child: Child; readonly lines: readonly string[] } {
  const lines: string[] = []
  child = new Child({ command, env: process.env, cwd: tmpdir(), onLine: (line) => lines.push(line) })
  return { child, lines }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // There is no such process.
    return false
  }
}

it('a child process ends together with all that it started, also with what ignores the stop signal', async () => {
  const stubborn = `sh -c 'trap "" TERM; echo $$; sleep 600; sleep 600' &`
  const { child: shell, lines } = started(`trap 'exit 0' TERM; ${stubborn} while :; do wait; done`)
  await expect.poll(() => lines.length, WAIT).toBe(1)
  const pid = Number(lines[0])
  expect(isRunning(pid)).toBe(true)
  shell.signal('SIGTERM')
  await shell.ended()
  await expect.poll(() => isRunning(pid), WAIT).toBe(false)
})

it('a child process says how it ended by itself, and what it printed last', async () => {
  const { child: shell } = started('echo no licence; exit 3')
  await expect(shell.ended()).rejects.toThrow('the process exited with code 3')
})
