/** Runs a command in its own process group, and leaves no process behind. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { codeOf } from '@reeve/http'
import { OutputHead, OutputTail } from './output-capture.ts'
import type { ProcessOutcome, ProcessRequest } from './process-runner.ts'

/** How often the memory of a command is checked: it may touch two MiB per millisecond. */
const MEMORY_CHECK_MS = 20

const PAGE_BYTES = 4_096

/**
 * The `RunProcess` of production.
 *
 * A command that must stop is first sent SIGTERM (Helm then records that its operation failed), and killed after
 * `killGraceMs`. Both signals go to the whole group, and when the command itself has ended, what is left of its group is
 * killed too.
 *
 * *Assumptions*: a POSIX system. When this process itself is killed, a running command continues.
 *
 * @example
 * const { exitCode, stdout } = await runProcess({
 *   command: '/usr/bin/helm', args: ['version'], env: {}, cwd: '/tmp',
 *   timeoutMs: 10_000, killGraceMs: 1_000, maxOutputBytes: 65_536,
 * })
 */
export function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  const {
    command,
    args,
    env,
    cwd,
    stdin = '',
    timeoutMs,
    killGraceMs,
    maxOutputBytes,
    maxMemoryBytes,
    signal,
  } = request
  const { promise, resolve, reject } = Promise.withResolvers<ProcessOutcome>()
  if (signal?.aborted) {
    return Promise.resolve({ exitCode: null, stdout: '', stderr: '', isTruncated: false, endedBy: 'abort' })
  }
  const child = spawn(command, [...args], { env: { ...env }, cwd, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const stdout = new OutputHead(maxOutputBytes)
  const stderr = new OutputTail(maxOutputBytes)
  let endedBy: ProcessOutcome['endedBy'] = 'exit'
  let killTimer: NodeJS.Timeout | undefined

  const memoryTimer =
    maxMemoryBytes === undefined
      ? undefined
      : setInterval(() => {
          if (residentBytes(child) <= maxMemoryBytes) return
          // At once: it is the memory of everything else in the container, too.
          endedBy = 'memory'
          signalGroup(child, 'SIGKILL')
        }, MEMORY_CHECK_MS)
  if (maxMemoryBytes !== undefined) preferAsVictim(child)
  const end = (why: 'timeout' | 'abort') => {
    if (endedBy !== 'exit') return
    endedBy = why
    signalGroup(child, 'SIGTERM')
    killTimer = setTimeout(() => signalGroup(child, 'SIGKILL'), killGraceMs)
  }
  const deadline = setTimeout(() => end('timeout'), timeoutMs)
  const onAbort = () => end('abort')
  signal?.addEventListener('abort', onAbort, { once: true })
  const settle = () => {
    clearTimeout(deadline)
    clearTimeout(killTimer)
    clearInterval(memoryTimer)
    signal?.removeEventListener('abort', onAbort)
  }

  child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk))
  // A command that ends before it has read its input breaks the pipe; how it ended says more than that.
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  child.once('error', (error) => {
    settle()
    reject(error)
  })
  // The streams close only when no descendant has them open anymore: killing the rest of the group closes them.
  child.once('exit', () => signalGroup(child, 'SIGKILL'))
  child.once('close', (exitCode) => {
    settle()
    resolve({ exitCode, stdout: stdout.text(), stderr: stderr.text(), isTruncated: stdout.isTruncated, endedBy })
  })
  return promise
}

function signalGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    // The process group has ended already.
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/** The memory that a command uses; 0 when that is unknown. */
function residentBytes({ pid }: ChildProcess): number {
  try {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')
    return Number(pages) * PAGE_BYTES
  } catch {
    // It has ended, or this is not Linux.
    return 0
  }
}

/** Lets the kernel end the command rather than this process when a container has no memory left. */
function preferAsVictim({ pid }: ChildProcess): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000')
  } catch {
    // It has ended, or this is not Linux. The limit holds anyway.
  }
}
