/** Credentials with fixed values or in files. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { ClientCertificate, CredentialSource, Credentials, TextSource } from '@reeve/http'
import { CredentialsError } from '../errors.ts'
import type { ReloadingFile } from './reloading-file.ts'

/** The header of a bearer token. A token that is not valid in a header is rejected without quoting it. */
export function bearer(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CredentialsError('the bearer token is empty or contains characters that an HTTP header may not')
  }
  return `Bearer ${token}`
}

/** The header of a user name and password. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}

/** A text that never changes. */
export function fixedText(text: string): TextSource {
  return { read: async () => text }
}

/** The credentials: a header, a certificate, or both. */
export interface IdentityParts {
  /** Complete value of the `authorization` header. */
  readonly authorization?: string
  /** File with a bearer token; takes precedence over `authorization`. */
  readonly tokenFile?: ReloadingFile
  readonly certificate?: TextSource
  readonly key?: TextSource
}

/** Credentials from fixed values and files. After a 401 the token file is read again immediately. */
export class PlainCredentials implements CredentialSource {
  readonly #parts: IdentityParts
  #pair: ClientCertificate | undefined

  constructor(parts: IdentityParts) {
    this.#parts = parts
  }

  async get(): Promise<Credentials> {
    const { tokenFile, authorization } = this.#parts
    const header = tokenFile ? bearer(await tokenFile.read()) : authorization
    const clientCertificate = await this.#certificate()
    return {
      ...(header !== undefined && { authorization: header }),
      ...(clientCertificate && { clientCertificate }),
    }
  }

  async renew(rejected: Credentials): Promise<Credentials | undefined> {
    const { tokenFile } = this.#parts
    if (tokenFile === undefined) return undefined
    const authorization = bearer(await tokenFile.reread())
    return authorization === rejected.authorization ? undefined : { ...rejected, authorization }
  }

  async #certificate(): Promise<ClientCertificate | undefined> {
    const { certificate: certificateSource, key: keySource } = this.#parts
    if (certificateSource === undefined || keySource === undefined) return undefined
    const [certificate, key] = await Promise.all([certificateSource.read(), keySource.read()])
    if (this.#pair?.certificate === certificate && this.#pair.key === key) return this.#pair
    // While files are being replaced, one may be new and the other old: such a pair would fail every handshake.
    if (this.#pair !== undefined && !belongTogether(certificate, key)) return this.#pair
    this.#pair = { certificate, key }
    return this.#pair
  }
}

/** Decodes the base64 of a kubeconfig's `*-data` field; `where` names it. */
export function decodeBase64(data: string, where: string): string {
  const compact = data.replace(/\s/g, '')
  if (compact === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) throw new CredentialsError(`${where} is not base64`)
  return Buffer.from(compact, 'base64').toString('utf8')
}

function belongTogether(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch {
    // Incomplete files cannot be parsed; they will be complete at the next read.
    return false
  }
}
