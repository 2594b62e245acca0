/** Reads the credentials of a chart source from a Secret. */
import type { Secret } from '@reeve/kube'
import { credentialsFor, DOCKER_CONFIG_KEY, parseDockerConfig, RegistryCredentialsError } from '@reeve/oci'
import { InvalidHelmRequestError } from '../errors.ts'
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
  const docker = read(DOCKER_CONFIG_KEY)
  return docker === undefined ? found : { ...found, ...dockerCredentials(docker, url, where) }
}

function dockerCredentials(text: string, url: string, where: string): ChartCredentials {
  const { host, pathname } = URL.parse(url.replace(/^oci:/, 'https:')) ?? { host: '', pathname: '' }
  try {
    const config = parseDockerConfig(text, where)
    const entry = credentialsFor(config, { registry: host, repository: pathname.replaceAll(/^\/|\/$/g, '') })
    const { username, password, registryToken: token } = entry ?? {}
    return {
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(token !== undefined && { token }),
    }
  } catch (error) {
    if (!(error instanceof RegistryCredentialsError)) throw error
    throw new InvalidHelmRequestError(error.message)
  }
}
