/** Divides the machine: one core for the measured operator, one for everything else. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** While it is held, this process and all that it starts run on the other core. */
export interface Cores extends Disposable {
  /** For the operator alone. */
  readonly operator: string
}

/**
 * Moves this process to the first core that it may use; the second is for the operator. Programs of Go and Node size their pools
 * of threads by this when they start.
 */
export function divideCores(): Cores {
  const before = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? ''
  const [others, operator] = before.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => String(first + index))
  })
  if (others === undefined || operator === undefined)
    throw new Error(`two cores are needed, and there is only ${before}`)
  pin(others)
  return { operator, [Symbol.dispose]: () => pin(before) }
}

const pin = (cores: string) =>
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(process.pid)])
