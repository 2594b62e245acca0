/** Reads the credentials of a chart source from a Secret. */
import { isRecord, type Secret } from '@reeve/kube'
import { InvalidHelmRequestError } from '../errors.ts'
import { objectAt, textAt } from '../json-shape.ts'
import type { ChartCredentials } from './chart-source.ts'

/** Keys of the Secret, and what they hold. */
const KEYS = {
  username: 'username',
  password: 'password',
  token: 'token',
  certificateAuthority: 'ca.crt',
  clientCertificate: 'tls.crt',
  clientKey: 'tls.key',
} as const satisfies Record<keyof ChartCredentials, string>

/**
 * The credentials in a Secret: `username` and `password`, or `token`; `ca.crt` to trust; `tls.crt` and `tls.key` to show.
 * Of a Secret of type `kubernetes.io/dockerconfigjson` the entry of `url`'s host is used.
 *
 * *Errors*: `InvalidHelmRequestError` names the Secret and the key, and never quotes it.
 *
 * @example
 * const credentials = chartCredentials(await client.get(Secrets, key), 'oci://registry.example.com/charts/web')
 */
export function chartCredentials(secret: Secret, url: string): ChartCredentials {
  const { namespace, name } = secret.metadata
  const where = `Secret ${namespace}/${name}`
  const read = (key: string): string | undefined => {
    const data = secret.data?.[key]
    return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8').trim()
  }
  const entries = Object.entries(KEYS).flatMap(([field, key]) => {
    const value = read(key)
    return value === undefined || value === '' ? [] : [[field, value] as const]
  })
  const found: ChartCredentials = Object.fromEntries(entries)
  if ((found.clientCertificate === undefined) !== (found.clientKey === undefined)) {
    throw new InvalidHelmRequestError(`${where} has only one of tls.crt and tls.key`)
  }
  const docker = read('.dockerconfigjson')
  return docker === undefined ? found : { ...found, ...dockerCredentials(docker, url, where) }
}

function dockerCredentials(text: string, url: string, where: string): ChartCredentials {
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch {
    // Said below; the parser's message would quote the Secret.
  }
  if (!isRecord(config)) throw new InvalidHelmRequestError(`${where}: .dockerconfigjson is no JSON object`)
  const host = URL.parse(url.replace(/^oci:/, 'https:'))?.host ?? ''
  const auths = objectAt(config, 'auths')
  const key = [host, `https://${host}`, `https://${host}/v1/`].find((candidate) => Object.hasOwn(auths, candidate))
  if (key === undefined) return {}
  const entry = objectAt(auths, key)
  const decoded = Buffer.from(textAt(entry, 'auth') ?? '', 'base64').toString('utf8')
  const [, user, secret] = /^([^:]*):([\s\S]*)$/.exec(decoded) ?? []
  const [username, password] = [textAt(entry, 'username') ?? user, textAt(entry, 'password') ?? secret]
  return { ...(username !== undefined && { username }), ...(password !== undefined && { password }) }
}
