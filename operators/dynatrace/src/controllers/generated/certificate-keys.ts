/** Keys that are generated before the certificate that needs them can be made. */
import { generateKeys, type Keys } from './self-signed.ts'

/** As many as certificates are made concurrently: each takes a thread for a second. */
const MAX_GENERATING = 2

/**
 * *Guarantees*: what is prepared and not taken is kept, so that preparing for a DynaKube that then fails costs its time
 * once.
 *
 * @example
 * const keys = new CertificateKeys()
 * keys.prepare(2)
 * const pair = await selfSigned(subject, clock, await keys.take())
 */
export class CertificateKeys {
  readonly #generate: () => Promise<Keys>
  readonly #prepared: Promise<Keys>[] = []
  #generating = 0

  constructor(generate: () => Promise<Keys> = generateKeys) {
    this.#generate = generate
  }

  /** Begins to generate keys, unless as many are prepared or enough are being generated. */
  prepare(count: number): void {
    while (this.#prepared.length < count && this.#generating < MAX_GENERATING) {
      const keys = this.#begin()
      // Whoever takes them handles the failure.
      keys.catch(() => undefined)
      this.#prepared.push(keys)
    }
  }

  /** Keys for one certificate: prepared ones, or new ones. */
  take(): Promise<Keys> {
    return this.#prepared.shift() ?? this.#begin()
  }

  async #begin(): Promise<Keys> {
    this.#generating += 1
    try {
      return await this.#generate()
    } finally {
      this.#generating -= 1
    }
  }
}
