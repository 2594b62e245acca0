/** Kills a running process right before one of its changes to the file system or to mounts. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { spawnBound } from '../../support/spawn-bound.ts'

/**
 * System calls that change something, apart from writes into a file, which are between the creation of the file and its
 * permissions.
 */
const CHANGES = ['mkdir', 'symlink', 'rename', 'unlink', 'rmdir', 'mount', 'umount2', 'pwritev', 'fchmod'] as const

/** A change: the `occurrence`th of its kind, from 1. */
export interface Step {
  readonly call: (typeof CHANGES)[number]
  readonly occurrence: number
}

/** One thread makes all changes, so that they can be counted. */
export const ONE_THREAD = { UV_THREADPOOL_SIZE: '1', NODE_DISABLE_COMPILE_CACHE: '1' }

/** Why this cannot be done on this machine; `undefined` if it can. */
export function missingTracer(): string | undefined {
  return spawnSync('strace', ['--version']).status === 0 ? undefined : 'needs strace'
}

/** Has a running process killed before a step; one without this step goes on. Resolves when the process is watched. */
export async function killAt(pid: number | undefined, { call, occurrence }: Step): Promise<void> {
  const inject = `inject=${call}:signal=SIGKILL:when=${occurrence}`
  const command = ['strace', '-f', '-o', '/dev/null', '-p', String(pid), '-e', `trace=${call}`, '-e', inject]
  const tracer = spawnBound(command)
  // It ends with the process.
  await once(tracer.stderr, 'data')
  tracer.stderr.resume()
}

/**
 * Tries each change of a program, or the first `atMost` of each kind. `isKilled` runs the program with a step and returns
 * whether it was killed; returns how many steps were tried.
 */
export async function eachStep(
  isKilled: (step: Step) => Promise<boolean>,
  atMost = Number.POSITIVE_INFINITY,
): Promise<number> {
  let count = 0
  for (const call of CHANGES) {
    for (let occurrence = 1; occurrence <= atMost && (await isKilled({ call, occurrence })); occurrence++) count++
  }
  return count
}
