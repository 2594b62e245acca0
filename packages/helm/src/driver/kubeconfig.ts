/** Puts the credentials of a Reeve cluster configuration where Helm can read them, and nobody else. */
import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClusterConfig, Credentials } from '@reeve/kube'

/** The text of a kubeconfig with one cluster and one user. */
export async function renderKubeconfig(config: ClusterConfig, credentials: Credentials): Promise<string> {
  const { server, trust, proxyUrl, impersonate } = config
  const authority = await trust.certificateAuthority?.read()
  const cluster = {
    server,
    ...(authority !== undefined && { 'certificate-authority-data': base64(authority) }),
    ...(trust.serverName !== undefined && { 'tls-server-name': trust.serverName }),
    ...(trust.insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
    ...(proxyUrl !== undefined && { 'proxy-url': proxyUrl }),
  }
  const user = {
    ...authorizationFields(credentials.authorization),
    ...(credentials.clientCertificate && {
      'client-certificate-data': base64(credentials.clientCertificate.certificate),
      'client-key-data': base64(credentials.clientCertificate.key),
    }),
    ...(impersonate && {
      as: impersonate.user,
      ...(impersonate.uid !== undefined && { 'as-uid': impersonate.uid }),
      ...(impersonate.groups && { 'as-groups': impersonate.groups }),
      ...(impersonate.extra && { 'as-user-extra': impersonate.extra }),
    }),
  }
  // JSON is YAML, and needs no quoting rules.
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'reeve',
    contexts: [{ name: 'reeve', context: { cluster: 'reeve', user: 'reeve', namespace: config.namespace } }],
    clusters: [{ name: 'reeve', cluster }],
    users: [{ name: 'reeve', user }],
  })
}

/**
 * Keeps a kubeconfig file up to date with credentials that change. The file is replaced, never rewritten in place: a
 * helm that starts at the same moment reads the old or the new one.
 */
export class KubeconfigFile {
  readonly path: string
  readonly #config: ClusterConfig
  #written: string | undefined
  #writing: Promise<void> = Promise.resolve()
  #credentials: Credentials = {}

  constructor(folder: string, config: ClusterConfig) {
    this.path = join(folder, 'kubeconfig')
    this.#config = config
  }

  /** What must not be seen in any output. */
  get secrets(): readonly string[] {
    const { authorization, clientCertificate } = this.#credentials
    const { token, password } = authorizationFields(authorization)
    return [authorization?.split(' ')[1], token, password, clientCertificate?.key].filter((text) => text !== undefined)
  }

  /** Brings the file up to date; to be called before every start of helm. */
  async refresh(signal?: AbortSignal): Promise<void> {
    await this.#store((await this.#config.credentials?.get(signal)) ?? {})
  }

  /** After the server refused the credentials: whether there are others, which are then in the file. */
  async renew(signal?: AbortSignal): Promise<boolean> {
    const renewed = await this.#config.credentials?.renew(this.#credentials, signal)
    if (renewed === undefined) return false
    await this.#store(renewed)
    return true
  }

  async remove(): Promise<void> {
    await this.#writing
    this.#written = undefined
    await rm(this.path, { force: true })
  }

  #store(credentials: Credentials): Promise<void> {
    // One after the other, or an older text could replace a newer one.
    const write = async () => {
      const text = await renderKubeconfig(this.#config, credentials)
      this.#credentials = credentials
      if (text === this.#written) return
      const temporary = `${this.path}.${randomBytes(4).toString('hex')}`
      await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
      await rename(temporary, this.path)
      this.#written = text
    }
    const stored = this.#writing.then(write)
    this.#writing = stored.catch(() => undefined) // told to whoever asked for it; the next write does not depend on it
    return stored
  }
}

function authorizationFields(authorization: string | undefined): Readonly<Record<string, string>> {
  const [scheme, value = ''] = (authorization ?? '').split(' ')
  if (scheme === 'Bearer') return { token: value }
  if (scheme !== 'Basic') return {}
  const [, username = '', password = ''] = /^([^:]*):([\s\S]*)$/.exec(Buffer.from(value, 'base64').toString()) ?? []
  return { username, password }
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
