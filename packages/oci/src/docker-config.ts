/** Credentials of registries, as pull secrets hold them. */
import { decodeJson } from '@reeve/http/decode-json'
import { Type } from 'typebox'
import { DOCKER_HUB, type ImageReference } from './image-reference.ts'
import { RegistryCredentialsError } from './registry-error.ts'

/** The key of a pull secret that holds a docker config. */
export const DOCKER_CONFIG_KEY = '.dockerconfigjson'

/** How to prove who we are to one registry; everything in it is secret. */
export interface RegistryCredentials {
  readonly username?: string
  readonly password?: string
  /** Exchanged for access tokens at the registry's token server. */
  readonly identityToken?: string
  /** Sent to the registry unchanged. */
  readonly registryToken?: string
}

/** Credentials by registry, or by registry and repository. */
export type DockerConfig = ReadonlyMap<string, RegistryCredentials>

/** For everything that is public. */
export const anonymous: DockerConfig = new Map()

const Text = Type.Optional(Type.String())
const Entry = Type.Object({ username: Text, password: Text, auth: Text, identitytoken: Text, registrytoken: Text })
const Config = Type.Object({ auths: Type.Optional(Type.Record(Type.String(), Entry)) })

/**
 * Reads a docker config.
 *
 * @param source where it comes from, for the message: `Secret dynatrace/pull-secret`
 *
 * *Errors*: {@link RegistryCredentialsError} naming the source if it is invalid.
 *
 * @example
 * const credentials = parseDockerConfig(data['.dockerconfigjson'], 'Secret dynatrace/pull-secret')
 */
export function parseDockerConfig(text: string | undefined, source: string): DockerConfig {
  if (text === undefined) throw new RegistryCredentialsError(`${source}: has no key ${DOCKER_CONFIG_KEY}; add it`)
  const decoded = decodeJson(Config, Buffer.from(text))
  if ('problem' in decoded) {
    throw new RegistryCredentialsError(`${source}: ${DOCKER_CONFIG_KEY} is not a docker config: ${decoded.problem}`)
  }
  const entries = Object.entries(decoded.value.auths ?? {})
  return new Map(entries.map(([key, entry]) => [normalizeKey(key), asCredentials(entry)]))
}

/** One config out of several; later ones win for the same registry. */
export function mergeDockerConfigs(configs: readonly DockerConfig[]): DockerConfig {
  return new Map(configs.flatMap((config) => [...config]))
}

/** The credentials for an image: those of its repository, else those of its registry; `undefined` is anonymous. */
export function credentialsFor(
  config: DockerConfig,
  { registry, repository }: Pick<ImageReference, 'registry' | 'repository'>,
): RegistryCredentials | undefined {
  return config.get(`${registry}/${repository}`) ?? config.get(registry)
}

// `https://index.docker.io/v1/` is how Docker Hub is always written; other registries appear with and without scheme.
function normalizeKey(key: string): string {
  const name = key.replace(/^https?:\/\//, '').replace(/\/(v1|v2)?\/?$/, '')
  return name === 'docker.io' ? DOCKER_HUB : name
}

function asCredentials(entry: Type.Static<typeof Entry>): RegistryCredentials {
  const pair = entry.auth ? Buffer.from(entry.auth, 'base64').toString('utf8') : ''
  const colon = pair.indexOf(':')
  const username = entry.username || (colon < 0 ? '' : pair.slice(0, colon))
  const password = entry.password || (colon < 0 ? '' : pair.slice(colon + 1).replace(/\0+$/, ''))
  return {
    ...(username && { username }),
    ...(password && { password }),
    ...(entry.identitytoken && { identityToken: entry.identitytoken }),
    ...(entry.registrytoken && { registryToken: entry.registrytoken }),
  }
}
