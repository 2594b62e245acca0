/** Where a TLS server gets its certificate from, and learns of a new one. */

/** A certificate with its private key, both in PEM. The certificate may be followed by intermediates. */
export interface ServingCertificate {
  readonly certificate: string
  readonly privateKey: string
}

/** A certificate that may change while it is in use. */
export interface CertificateSource {
  /** Undefined until the first one is known. */
  readonly current: ServingCertificate | undefined
  /** Calls `listener` with the certificate that is known, if any, and with every new one. Returns the function that stops it. */
  subscribe(listener: (certificate: ServingCertificate) => void): () => void
}

/**
 * Holds the certificate that is in use.
 *
 * @example
 * const certificates = new CertificateHolder()
 * certificates.set({ certificate, privateKey })
 */
export class CertificateHolder implements CertificateSource {
  readonly #listeners = new Set<(certificate: ServingCertificate) => void>()
  #current: ServingCertificate | undefined

  /** @param current may be set later */
  constructor(current?: ServingCertificate) {
    this.#current = current
  }

  get current(): ServingCertificate | undefined {
    return this.#current
  }

  subscribe(listener: (certificate: ServingCertificate) => void): () => void {
    this.#listeners.add(listener)
    if (this.#current !== undefined) listener(this.#current)
    return () => this.#listeners.delete(listener)
  }

  /** Passes a certificate to all listeners; one that is in use already changes nothing. Returns whether it is new. */
  set(next: ServingCertificate): boolean {
    const { certificate, privateKey } = next
    if (this.#current?.certificate === certificate && this.#current.privateKey === privateKey) return false
    this.#current = next
    for (const listener of this.#listeners) listener(next)
    return true
  }
}

/**
 * Resolves when the source has a certificate. Rejects with the signal's reason when that comes first.
 *
 * @example
 * await firstCertificate(certificates, signal)
 */
export function firstCertificate(source: CertificateSource, signal: AbortSignal): Promise<ServingCertificate> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      stop?.()
      reject(signal.reason)
    }
    if (signal.aborted) {
      reject(signal.reason)
      return
    }
    signal.addEventListener('abort', onAbort, { once: true })
    let stop: (() => void) | undefined
    stop = source.subscribe((certificate) => {
      stop?.()
      signal.removeEventListener('abort', onAbort)
      resolve(certificate)
    })
    if (source.current !== undefined) stop()
  })
}
