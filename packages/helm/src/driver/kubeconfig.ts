/** Writes the credentials of a cluster configuration to a file that only Helm can read. */
import { randomBytes } from 'node:crypto'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Credentials } from '@reeve/http'
import type { ClusterConfig } from '@reeve/kube'

const KUBECONFIG_PREFIX = 'kubeconfig-'

/** The text of a kubeconfig with one cluster and one user. */
async function renderKubeconfig(config: ClusterConfig, credentials: Credentials): Promise<string> {
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
 * The kubeconfig of one helm command: written before it starts, removed when it has ended. Each command has a file of its
 * own because each may act as another account.
 *
 * @example
 * await using kubeconfig = await KubeconfigFile.write(folder, config)
 */
export class KubeconfigFile implements AsyncDisposable {
  readonly path: string
  readonly #config: ClusterConfig
  #credentials: Credentials = {}

  private constructor(folder: string, config: ClusterConfig) {
    this.path = join(folder, `${KUBECONFIG_PREFIX}${randomBytes(8).toString('hex')}`)
    this.#config = config
  }

  /** Writes the credentials of now. */
  static async write(folder: string, config: ClusterConfig, signal?: AbortSignal): Promise<KubeconfigFile> {
    const file = new KubeconfigFile(folder, config)
    await file.#store((await config.credentials?.get(signal)) ?? {})
    return file
  }

  /** What must not be seen in any output. */
  get secrets(): readonly string[] {
    const { authorization, clientCertificate } = this.#credentials
    const { token, password } = authorizationFields(authorization)
    return [authorization?.split(' ')[1], token, password, clientCertificate?.key].filter((text) => text !== undefined)
  }

  /** After the server rejected the credentials: whether there are others, which are then in the file. */
  async renew(signal?: AbortSignal): Promise<boolean> {
    const renewed = await this.#config.credentials?.renew(this.#credentials, signal)
    if (renewed === undefined) return false
    await this.#store(renewed)
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { force: true })
  }

  async #store(credentials: Credentials): Promise<void> {
    const text = await renderKubeconfig(this.#config, credentials)
    this.#credentials = credentials
    await writeFile(this.path, text, { mode: 0o600 })
  }
}

/** Removes what commands of a driver that was killed have left in its folder. */
export async function removeKubeconfigs(folder: string): Promise<void> {
  const left = (await readdir(folder)).filter((name) => name.startsWith(KUBECONFIG_PREFIX))
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })))
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
