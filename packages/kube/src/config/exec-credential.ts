/** The documents that are exchanged with an exec plugin. */

import { readFile } from 'node:fs/promises'
import { type Credentials, isRecord } from '@reeve/http'
import { CredentialsError } from '../errors.ts'
import { bearer } from './credentials.ts'
import type { KubeconfigCluster, KubeconfigExec } from './kubeconfig-document.ts'

/** The credentials from a plugin. */
export interface ExecResult {
  readonly credentials: Credentials
  /** Milliseconds since the epoch; absent when the credentials do not expire. */
  readonly expiresAt: number | undefined
}

/** The value of `KUBERNETES_EXEC_INFO`: the request to the plugin. */
export async function execInfo(plugin: KubeconfigExec, cluster: KubeconfigCluster): Promise<string> {
  const info = plugin.provideClusterInfo ? await clusterInfo(cluster) : undefined
  const spec = { interactive: false, ...(info && { cluster: info }) }
  return JSON.stringify({ apiVersion: plugin.apiVersion, kind: 'ExecCredential', spec })
}

/** Parses the output of the plugin. Errors name the field; the output itself is never quoted. */
export function parseExecCredential(output: string, plugin: KubeconfigExec): ExecResult {
  const { where, command, apiVersion } = plugin
  const wrong = (problem: string) => new CredentialsError(`${where}: ${command} ${problem}`)
  const document = parse(output)
  if (document === undefined) throw wrong('did not print a JSON object')
  if (document.kind !== 'ExecCredential') throw wrong('did not print an ExecCredential')
  if (document.apiVersion !== apiVersion) throw wrong(`did not respond in the requested apiVersion ${apiVersion}`)
  const { token, certificate, key, expiresAt } = statusOf(document, wrong)
  if (token === undefined && certificate === undefined) throw wrong('returned neither a token nor a certificate')
  if (certificate === undefined || key === undefined) {
    if (certificate !== key) throw wrong('returned a certificate without its key, or a key without its certificate')
    return { credentials: token === undefined ? {} : { authorization: bearer(token) }, expiresAt }
  }
  const clientCertificate = { certificate, key }
  return {
    credentials: token === undefined ? { clientCertificate } : { clientCertificate, authorization: bearer(token) },
    expiresAt,
  }
}

function statusOf(document: Readonly<Record<string, unknown>>, wrong: (problem: string) => Error) {
  const status = document.status
  if (!isRecord(status)) throw wrong('returned no status')
  const text = (name: string): string | undefined => {
    const value = status[name]
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string') throw wrong(`returned a status.${name} that is not a string`)
    return value
  }
  const expiry = text('expirationTimestamp')
  const expiresAt = expiry === undefined ? undefined : Date.parse(expiry)
  if (Number.isNaN(expiresAt)) throw wrong('returned a status.expirationTimestamp that is not a time')
  return { token: text('token'), certificate: text('clientCertificateData'), key: text('clientKeyData'), expiresAt }
}

async function clusterInfo(cluster: KubeconfigCluster): Promise<Readonly<Record<string, unknown>>> {
  const authority =
    cluster.certificateAuthorityData ??
    (cluster.certificateAuthority === undefined
      ? undefined
      : (await readFile(cluster.certificateAuthority)).toString('base64'))
  return {
    server: cluster.server,
    ...(authority !== undefined && { 'certificate-authority-data': authority }),
    ...(cluster.tlsServerName !== undefined && { 'tls-server-name': cluster.tlsServerName }),
    ...(cluster.insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
    ...(cluster.proxyUrl !== undefined && { 'proxy-url': cluster.proxyUrl }),
    ...(cluster.execExtension !== undefined && { config: cluster.execExtension }),
  }
}

function parse(output: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(output)
    return isRecord(value) ? value : undefined
  } catch {
    // The parser's message quotes the output, and the output is a credential.
    return undefined
  }
}
