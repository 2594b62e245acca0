/** Copies the webhook's certificate from its Secret into files, from which the server takes it up. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, sleep, systemClock } from '@reeve/http'
import { type KubeClient, Secrets } from '@reeve/kube'
import { type Logger, silentLogger } from '@reeve/runtime'
import { parseCertificates } from '@reeve/runtime/certificates'
import type { Runnable } from '@reeve/runtime/manager'
import { CERTIFICATES_SECRET } from '../installed-names.ts'

/** Where the files are. */
export interface CertificateFiles {
  readonly directory: string
  /** File names in the directory. */
  readonly certificate: string
  readonly privateKey: string
}

/** Options of {@link CertificateFilesFromSecret}. */
export interface CertificateFilesOptions {
  /** Interval at which the Secret is read: short enough for one that was deleted and recreated. @default 60_000 */
  readonly recheckMs?: number
  /**
   * How long a changed certificate is left unused: the operator makes a new authority known before the Secret changes,
   * and API servers need a moment to see it.
   * @default 5_000
   */
  readonly settleMs?: number
  readonly clock?: Clock
  readonly logger?: Logger
}

/** After a failure, and while the certificate is outdated. */
const RETRY_MS = 2_000
const RECHECK_MS = 60_000
const SETTLE_MS = 5_000
/** The operator renews long before: less than this means that it does not run. */
const MIN_VALIDITY_MS = 6 * 3_600_000

/**
 * *Guarantees*: the files hold exactly what the Secret does; they are written only when that differs; a missing or
 * broken Secret does not change them. Never fails: users of the files wait for them.
 *
 * @example
 * manager.add(new CertificateFilesFromSecret(client, 'dynatrace', files), new FileCertificates(paths), server)
 */
export class CertificateFilesFromSecret implements Runnable {
  readonly name = 'certificate-secret'
  readonly needsLeadership = false
  readonly phase = 'webhooks'
  readonly #client: KubeClient
  readonly #namespace: string
  readonly #files: CertificateFiles
  readonly #recheckMs: number
  readonly #settleMs: number
  readonly #clock: Clock
  readonly #logger: Logger
  #lastProblem = ''

  constructor(client: KubeClient, namespace: string, files: CertificateFiles, options: CertificateFilesOptions = {}) {
    this.#client = client
    this.#namespace = namespace
    this.#files = files
    this.#recheckMs = options.recheckMs ?? RECHECK_MS
    this.#settleMs = options.settleMs ?? SETTLE_MS
    this.#clock = options.clock ?? systemClock
    this.#logger = (options.logger ?? silentLogger).child({ certificates: `${namespace}/${CERTIFICATES_SECRET}` })
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isFine = await this.#check(signal)
      // Aborting is the only way a sleep fails, and the loop ends then.
      await sleep(isFine ? this.#recheckMs : Math.min(RETRY_MS, this.#recheckMs), { clock: this.#clock, signal }).catch(
        () => undefined,
      )
    }
  }

  async #check(signal: AbortSignal): Promise<boolean> {
    try {
      const expiresMs = await this.#copy(signal)
      if (expiresMs - this.#clock.now() >= MIN_VALIDITY_MS) {
        this.#lastProblem = ''
        return true
      }
      this.#report({ expires: new Date(expiresMs).toISOString() }, 'the certificate is outdated')
    } catch (error) {
      if (!signal.aborted) this.#report({ error }, 'waiting for a certificate')
    }
    return false
  }

  /** Once for each problem: it may last for hours. */
  #report(fields: object, problem: string): void {
    this.#logger[problem === this.#lastProblem ? 'debug' : 'warn'](fields, problem)
    this.#lastProblem = problem
  }

  /** Returns when the certificate in the files expires. */
  async #copy(signal: AbortSignal): Promise<number> {
    const current = await this.#readFiles()
    let wanted = await this.#readSecret(signal)
    if (isSame(current, wanted)) return expiryOf(wanted.certificate)
    if (current !== undefined) {
      await sleep(this.#settleMs, { clock: this.#clock, signal })
      wanted = await this.#readSecret(signal)
    }
    const { directory, certificate, privateKey } = this.#files
    await mkdir(directory, { recursive: true, mode: 0o775 })
    await replaceFile(join(directory, privateKey), wanted.privateKey, 0o600)
    await replaceFile(join(directory, certificate), wanted.certificate, 0o644)
    this.#logger.info({ directory }, 'wrote the certificate files')
    return expiryOf(wanted.certificate)
  }

  async #readSecret(signal: AbortSignal): Promise<Pair> {
    const key = { namespace: this.#namespace, name: CERTIFICATES_SECRET }
    const { data } = await this.#client.get(Secrets, key, { signal })
    const text = (name: string) => Buffer.from(data?.[name] ?? '', 'base64').toString('utf8')
    const pair = { certificate: text('tls.crt'), privateKey: text('tls.key') }
    if (pair.certificate === '' || pair.privateKey === '') throw new Error('the Secret has no tls.crt or no tls.key')
    return pair
  }

  async #readFiles(): Promise<Pair | undefined> {
    const { directory, certificate, privateKey } = this.#files
    try {
      const read = (file: string) => readFile(join(directory, file), 'utf8')
      const [certificateText, keyText] = await Promise.all([read(certificate), read(privateKey)])
      return { certificate: certificateText, privateKey: keyText }
    } catch {
      // Missing at the first start; other errors show when they are written.
      return undefined
    }
  }
}

interface Pair {
  readonly certificate: string
  readonly privateKey: string
}

const isSame = (one: Pair | undefined, other: Pair) =>
  one?.certificate === other.certificate && one.privateKey === other.privateKey

/** A concurrent reader sees the old or the new content, never a part. */
async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const draft = `${path}.new`
  await writeFile(draft, content, { mode })
  await rename(draft, path)
}

/** 0 for an invalid certificate: it counts as expired. */
function expiryOf(pem: string): number {
  try {
    return parseCertificates(pem)[0]?.expiresMs ?? 0
  } catch {
    return 0
  }
}
