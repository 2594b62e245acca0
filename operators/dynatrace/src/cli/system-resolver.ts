/** Resolves names as other programs of the machine do, within a strict deadline. */
import { execFile } from 'node:child_process'

/** Finds the addresses of a host. *Errors*: the reason why there are none; the signal's reason. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>

const LOOK_UP = `
require('node:dns').lookup(process.argv[1], { all: true }, (error, found) => {
  console.log(JSON.stringify(error ? { code: error.code } : { addresses: found.map(({ address }) => address) }))
})`

/**
 * Uses the resolver of the system: only that one knows search domains, without which short names of a cluster mean
 * nothing. It cannot be interrupted, and a process does not end before it: a silent server delays it by ten
 * seconds and more, whatever the deadline. So it runs in a separate process, which can be killed.
 *
 * @example
 * const addresses = await resolveWithSystem('kubernetes.default.svc', AbortSignal.timeout(5_000))
 */
export const resolveWithSystem: Resolve = (host, signal) =>
  new Promise((resolve, reject) => {
    const options = { signal, killSignal: 'SIGKILL' } as const
    execFile(process.execPath, ['--eval', LOOK_UP, host], options, (failure, output) => {
      if (signal.aborted) reject(signal.reason)
      else if (failure) reject(failure)
      else {
        const { addresses, code }: { addresses?: string[]; code?: string } = JSON.parse(output)
        if (addresses) resolve(addresses)
        else reject(new Error(code))
      }
    })
  })
