/** Reads what a DynaKube refers to: tokens, proxy, trusted certificates, pull secrets. */
import { isProxyAddress, systemClock } from '@reeve/http'
import { ConfigMaps, isNotFound, type KubeObject, Secrets } from '@reeve/kube'
import { DOCKER_CONFIG_KEY, type DockerConfig, mergeDockerConfigs, parseDockerConfig } from '@reeve/oci'
import { imagePullSecretNames, tokensSecretName } from '../../../api/dynakube/names.ts'
import { proxyUrl as findProxyUrl } from '../../../api/dynakube/proxy.ts'
import { resolveTrustedCertificates } from '../../../controllers/references/trusted-certificates.ts'
import { decodeSecret, type SecretData } from '../../../controllers/rendering/secret-data.ts'
import { tenantConnection } from '../../../controllers/tenant-access/tenant-connection.ts'
import { readTokens } from '../../../controllers/tenant-access/tokens.ts'
import type { TenantClientOptions } from '../../../tenant/client/tenant-client.ts'
import { ProvisionError } from '../provision-error.ts'
import type { InstallContext } from './install-context.ts'

type AccessContext = Pick<InstallContext, 'dynakube' | 'client' | 'logger' | 'signal'>

/** How servers outside of the cluster are reached. */
interface Route {
  readonly proxyUrl?: string
  readonly trustedCertificates?: string
}

/**
 * The options of a client for the tenant.
 *
 * *Errors*: `TOKEN_INVALID`, `PROXY_NOT_FOUND`, `REFERENCE_NOT_FOUND`, each naming object and key; those of the API server.
 */
export async function tenantAccess(context: AccessContext): Promise<TenantClientOptions> {
  const { dynakube, logger } = context
  const name = tokensSecretName(dynakube)
  const data = await secret(name, context)
  const tokens = readTokens(dynakube, { namespace: namespaceOf(context), secret: () => data })
  return tenantConnection(dynakube, tokens, await routeOf(context), { clock: systemClock, logger })
}

/**
 * The options of a client for registries. A pull secret that cannot be read is left out: the image may be public.
 *
 * *Errors*: `REGISTRY_CREDENTIALS` for a pull secret without a usable docker config, and those of {@link tenantAccess}
 * about proxy and certificates.
 */
export async function registryAccess(context: AccessContext) {
  const { dynakube, logger } = context
  const credentials = await pullCredentials(context)
  // Of the tenant's connection only the route is needed; tokens are not read for a registry.
  const {
    apiUrl: _url,
    apiToken: _token,
    ...route
  } = tenantConnection(dynakube, { apiToken: '' }, await routeOf(context), { clock: systemClock, logger })
  return { ...route, credentials }
}

async function pullCredentials(context: AccessContext): Promise<DockerConfig> {
  const configs: DockerConfig[] = []
  for (const name of imagePullSecretNames(context.dynakube)) {
    let data: SecretData | undefined
    try {
      data = await secret(name, context)
    } catch (error) {
      context.signal.throwIfAborted()
      context.logger.warn({ secret: name, err: error }, 'cannot read a pull secret')
    }
    if (data) configs.push(parseDockerConfig(data[DOCKER_CONFIG_KEY], `Secret ${namespaceOf(context)}/${name}`))
    else context.logger.info({ secret: name }, 'pulling without a pull secret that does not exist')
  }
  return mergeDockerConfigs(configs)
}

async function routeOf(context: AccessContext): Promise<Route> {
  const { dynakube, client, signal } = context
  const { trustedCAs } = dynakube.spec
  const namespace = namespaceOf(context)
  const trusted = trustedCAs
    ? await orUndefined(client.get(ConfigMaps, { namespace, name: trustedCAs }, { signal }))
    : undefined
  const certificates = resolveTrustedCertificates(dynakube, { namespace, configMap: () => trusted?.data })
  const proxyUrl = await findProxyUrl(dynakube, (name) => secret(name, context))
  if (proxyUrl !== undefined && !isProxyAddress(proxyUrl)) {
    throw new ProvisionError('spec.proxy: the address of the proxy is not a URL such as http://proxy:8080')
  }
  return { ...(proxyUrl !== undefined && { proxyUrl }), ...certificates }
}

async function secret(name: string, context: AccessContext): Promise<SecretData | undefined> {
  const { client, signal } = context
  const found = await orUndefined(client.get(Secrets, { namespace: namespaceOf(context), name }, { signal }))
  return found && decodeSecret(found.data)
}

async function orUndefined<T extends KubeObject>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

const namespaceOf = ({ dynakube }: AccessContext): string => dynakube.metadata.namespace ?? ''
