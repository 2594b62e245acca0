/** Tenants that exist in this process only, for plans without a network. */
import type { Clock, OutboundRequest, OutboundResponse, Sender } from '@reeve/http'
import { type KubeObject, Secrets } from '@reeve/kube'
import type { ScratchCluster } from '@reeve/plan'
import { tokensSecretName } from '../api/dynakube/names.ts'
import { type DynaKube, DynaKubes, type EdgeConnect, EdgeConnects } from '../api/latest.ts'
import { CLIENT_KEYS } from '../controllers/edgeconnect/components/registration/provision.ts'
import { decodeSecret, encodeSecret } from '../controllers/rendering/secret-data.ts'
import { TOKEN_SCOPES } from '../tenant/simulator/defaults.ts'
import type { OAuthClientOptions, TenantOptions, TokenOptions } from '../tenant/simulator/options.ts'
import { SimulatedTenants } from '../tenant/simulator/simulated-tenants.ts'
import { repeatableBytes } from './repeatable-bytes.ts'
import type { Exits } from './world.ts'

/** The tokens of a Secret that the files lack. Simulated tenants accept them. */
const SIMULATED_TOKENS = { apiToken: 'dt0c01.SIMULATED.API', dataIngestToken: 'dt0c01.SIMULATED.INGEST' }

const SIMULATED_CLIENT = {
  [CLIENT_KEYS.id]: 'dt0s02.SIMULATED',
  [CLIENT_KEYS.secret]: 'dt0s02.SIMULATED.SECRET',
}

/** The scopes of a token are unknown offline: it has all of them. */
const ALL_SCOPES = Object.values(TOKEN_SCOPES).flat()

/** Exits to simulated tenants, and the Secrets that had to be made up for them. */
export interface Simulation {
  readonly exits: Exits
  /** Secrets that were created in the scratch cluster. */
  readonly madeUp: readonly KubeObject[]
}

interface Tenant {
  readonly id: string
  readonly endpoints: readonly string[]
  readonly tokens: readonly TokenOptions[]
  readonly oauthClients: readonly OAuthClientOptions[]
}

/**
 * Simulates a tenant for every DynaKube and EdgeConnect of the scratch cluster: it has the host that the resource
 * names, and takes the credentials that it refers to. Those that are missing are made up.
 *
 * @example
 * const { exits, madeUp } = await simulateTenants(scratch, clock)
 */
export async function simulateTenants(scratch: ScratchCluster, clock: Clock): Promise<Simulation> {
  const madeUp: KubeObject[] = []
  const secretOf = async (namespace: string, name: string, otherwise: Readonly<Record<string, string>>) => {
    const found = scratch.view.get(Secrets, { namespace, name })
    if (found !== undefined) return decodeSecret(found.data)
    const metadata = { namespace, name }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: encodeSecret(otherwise) }
    await scratch.client.create(Secrets, secret)
    madeUp.push(secret)
    return otherwise
  }
  const tenants: Tenant[] = []
  for (const dynakube of scratch.view.list(DynaKubes)) {
    const { namespace = '' } = dynakube.metadata
    tenants.push(tenantOf(dynakube, await secretOf(namespace, tokensSecretName(dynakube), SIMULATED_TOKENS)))
  }
  for (const edgeConnect of scratch.view.list(EdgeConnects)) {
    const { namespace = '' } = edgeConnect.metadata
    const data = await secretOf(namespace, edgeConnect.spec.oauth.clientSecret, SIMULATED_CLIENT)
    tenants.push(platformOf(edgeConnect, data))
  }
  const simulator = new SimulatedTenants({ tenants: merged(tenants), clock, random: repeatableBytes() })
  const sender = tenantSender(simulator)
  return {
    madeUp,
    exits: { tenant: () => sender, platform: () => sender, registry: () => everyImage },
  }
}

function tenantOf({ metadata, spec }: DynaKube, data: Readonly<Record<string, string>>): Tenant {
  const { hostname, host, pathname } = new URL(spec.apiUrl)
  const [, managed] = /^\/e\/([^/]+)\/api/.exec(pathname) ?? []
  return {
    id: managed ?? labelOf(hostname),
    endpoints: [`https://${host}/communication`],
    // Tokens of one name replace each other, and each DynaKube has its own.
    tokens: Object.entries(data).map(([key, value]) => ({
      name: `${metadata.namespace}/${metadata.name}/${key}`,
      value,
      scopes: ALL_SCOPES,
    })),
    oauthClients: [],
  }
}

function platformOf({ spec }: EdgeConnect, data: Readonly<Record<string, string>>): Tenant {
  const { [CLIENT_KEYS.id]: id = '', [CLIENT_KEYS.secret]: secret = '' } = data
  return {
    id: labelOf(new URL(`https://${spec.apiServer}`).hostname),
    endpoints: [],
    tokens: [],
    oauthClients: id === '' || secret === '' ? [] : [{ id: id.trim(), secret: secret.trim() }],
  }
}

const labelOf = (hostname: string): string => hostname.split('.')[0] ?? hostname

/** Resources of one tenant share it. */
function merged(tenants: readonly Tenant[]): readonly TenantOptions[] {
  return [...Map.groupBy(tenants, ({ id }) => id)].map(([id, same]) => {
    const endpoints = [...new Set(same.flatMap((tenant) => tenant.endpoints))]
    const distinct = <T>(items: readonly T[], keyOf: (item: T) => string) => [
      ...new Map(items.map((item) => [keyOf(item), item])).values(),
    ]
    const tokens = distinct(
      same.flatMap((tenant) => tenant.tokens),
      ({ value = '' }) => value,
    )
    const oauthClients = distinct(
      same.flatMap((tenant) => tenant.oauthClients),
      (client) => client.id,
    )
    return { id, tokens, oauthClients, ...(endpoints.length > 0 && { endpoints }) }
  })
}

/** Access tokens are fetched from wherever the resource says; the simulation has one place for that. */
function tenantSender(simulator: SimulatedTenants): Sender {
  return {
    send: (request) => {
      const isForTokens = request.method === 'POST' && String(request.body ?? '').includes('grant_type=')
      return simulator.respond(isForTokens ? { ...request, url: new URL(simulator.tokenUrl) } : request)
    },
    close: async () => undefined,
  }
}

const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json'

/** A registry that has every image. */
const everyImage: Sender = {
  send: async ({ url }: OutboundRequest): Promise<OutboundResponse> => {
    const index = { schemaVersion: 2, mediaType: INDEX_TYPE, manifests: [], annotations: { simulated: url.pathname } }
    return { status: 200, headers: { 'content-type': INDEX_TYPE }, url, body: once(JSON.stringify(index)) }
  },
  close: async () => undefined,
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
