/** Keeps the making of keys, which takes a thread for a second, from getting in the way of everything else. */
import type { Clock } from '@reeve/http'
import { Semaphore } from '@reeve/runtime/webhooks'
import type { KeyPair, MakeCertificate, SelfSignedSubject } from './self-signed.ts'

/**
 * How many certificates are generated concurrently. A key takes a thread of the four that Node.js has for reading files
 * and for names of hosts as well: a leader that cannot read its credentials for seconds would lose its lease.
 */
const MAX_CONCURRENT = 2

/** Certificates that wait for others. Each worker of the controller waits for one at most. */
const MAX_WAITING = 100

/**
 * Limits how many certificates are generated concurrently; the others wait.
 *
 * *Errors*: those of `make`; the reason of the signal while waiting.
 *
 * @example
 * const limited = new LimitedCertificates(selfSigned)
 * const pair = await limited.make({ commonName: host, hosts: [host], addresses: [] }, clock, signal)
 */
export class LimitedCertificates {
  readonly #make: MakeCertificate
  readonly #turns = new Semaphore({ maxConcurrent: MAX_CONCURRENT, maxWaiting: MAX_WAITING })

  constructor(make: MakeCertificate) {
    this.#make = make
  }

  async make(subject: SelfSignedSubject, clock: Pick<Clock, 'now'>, signal: AbortSignal): Promise<KeyPair> {
    const leave = await this.#turns.enter(signal)
    try {
      return await this.#make(subject, clock)
    } finally {
      leave()
    }
  }
}
