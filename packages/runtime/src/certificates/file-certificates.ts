/** Certificates from mounted files, such as a Secret of cert-manager, reloaded when they change. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Clock, sleep, systemClock } from '@reeve/http'
import { CERTIFICATE_DEFAULTS } from '../defaults.ts'
import type { Runnable } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { RuntimeError } from '../runtime-error.ts'
import {
  CertificateHolder,
  type CertificateSource,
  firstCertificate,
  type ServingCertificate,
} from './certificate-source.ts'
import { asReadableKey, readPrivateKey } from './private-key.ts'

/** Options of {@link FileCertificates}. */
export interface FileCertificatesOptions {
  readonly certificateFile: string
  readonly privateKeyFile: string
  /** How often the files are read. @default 10_000 */
  readonly intervalMs?: number
  readonly clock?: Clock
  readonly logger?: Logger
  /** @default readFile of node:fs/promises */
  readonly read?: (path: string) => Promise<string>
}

/**
 * Reads the files on a timer: the kubelet swaps a whole directory by a symbolic link, which file watchers often miss.
 *
 * *Guarantee*: a certificate and a key that do not match, as in the middle of a swap, are never returned; the
 * last good pair stays.
 *
 * @example
 * const certificates = new FileCertificates({ certificateFile: '/tls/tls.crt', privateKeyFile: '/tls/tls.key' })
 */
export class FileCertificates implements Runnable, CertificateSource {
  readonly name = 'certificate-files'
  readonly needsLeadership = false
  readonly phase = 'webhooks'
  readonly #options: FileCertificatesOptions
  readonly #holder = new CertificateHolder()
  readonly #clock: Clock
  readonly #logger: Logger

  constructor(options: FileCertificatesOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#logger = (options.logger ?? silentLogger).child({ certificateFile: options.certificateFile })
  }

  get current(): ServingCertificate | undefined {
    return this.#holder.current
  }

  subscribe(listener: (certificate: ServingCertificate) => void): () => void {
    return this.#holder.subscribe(listener)
  }

  async whenReady(signal: AbortSignal): Promise<void> {
    await firstCertificate(this, signal)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { intervalMs = CERTIFICATE_DEFAULTS.fileIntervalMs } = this.#options
    while (!signal.aborted) {
      try {
        const pair = await this.#load()
        if (this.#holder.set(pair)) this.#logger.info({}, 'serving a new certificate')
      } catch (error) {
        this.#logger.warn({ err: error }, 'could not read the certificate files')
      }
      // Aborting is the only way a sleep fails, and the loop ends then.
      await sleep(intervalMs, { clock: this.#clock, signal }).catch(() => undefined)
    }
  }

  async #load(): Promise<ServingCertificate> {
    const { certificateFile, privateKeyFile, read = (path) => readFile(path, 'utf8') } = this.#options
    const [certificate, keyText] = await Promise.all([read(certificateFile), read(privateKeyFile)])
    const privateKey = asReadableKey(keyText)
    const known = this.#holder.current
    if (known?.certificate === certificate && known.privateKey === privateKey) return known
    if (!new X509Certificate(certificate).checkPrivateKey(readPrivateKey(privateKey))) {
      const files = `${certificateFile} and ${privateKeyFile}`
      throw new RuntimeError('CERTIFICATE_MISMATCH', `${files} do not match (yet)`)
    }
    return { certificate, privateKey }
  }
}
