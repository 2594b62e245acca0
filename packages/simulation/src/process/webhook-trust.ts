/** Certificates for the webhooks of a process, and the trust of the cluster in them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '@reeve/http'
import { issueAuthority, issueServing } from '@reeve/runtime/certificates'
import type { PlainObject } from '../operator-under-test.ts'
import { TemporaryFolder } from './temporary-folder.ts'

const VALIDITY_MS = 24 * 3_600_000

/** A folder with `tls.crt`, `tls.key` and `ca.crt`, as servers of webhooks expect it. */
export class WebhookTrust implements AsyncDisposable {
  readonly #folder: TemporaryFolder
  readonly #authority: string

  private constructor(folder: TemporaryFolder, authority: string) {
    this.#folder = folder
    this.#authority = authority
  }

  /** Its path. */
  get folder(): string {
    return this.#folder.path
  }

  /** @param services such as `system/webhooks` */
  static async create(services: readonly string[]): Promise<WebhookTrust> {
    const validity = { nowMs: Date.now(), validityMs: VALIDITY_MS }
    const authority = await issueAuthority('exploration', validity)
    const hosts = services.flatMap((service) => {
      const [namespace, name] = service.split('/')
      return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`]
    })
    const serving = await issueServing(authority, [...hosts, 'localhost'], validity)
    const folder = await TemporaryFolder.create('reeve-webhooks-')
    await Promise.all([
      writeFile(join(folder.path, 'tls.crt'), serving.certificate),
      writeFile(join(folder.path, 'tls.key'), serving.privateKey, { mode: 0o600 }),
      writeFile(join(folder.path, 'ca.crt'), authority.certificate),
    ])
    return new WebhookTrust(folder, Buffer.from(authority.certificate).toString('base64'))
  }

  /** The object with this authority wherever it configures a webhook without one. */
  trusted<T>(object: T): T {
    return this.#withBundle(object) as T
  }

  #withBundle(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#withBundle(item))
    if (!isRecord(value)) return value
    const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
      const changed = this.#withBundle(item)
      return [name, name === 'clientConfig' && isRecord(changed) ? this.#configured(changed) : changed]
    })
    return Object.fromEntries(entries)
  }

  #configured(config: PlainObject): PlainObject {
    const { caBundle } = config
    return caBundle === undefined || caBundle === '' || caBundle === 'Cg=='
      ? { ...config, caBundle: this.#authority }
      : config
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]()
  }
}
