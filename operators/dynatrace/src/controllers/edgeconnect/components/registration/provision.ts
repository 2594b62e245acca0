/** The EdgeConnect in the tenant, which the operator makes and keeps in step. */
import { isNotFound, type KubeClient, Secrets } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import { StaleViewError } from '@reeve/runtime/engine'
import { controllerOf } from '@reeve/runtime/owner-references'
import {
  clientSecretName,
  hasKubernetesAutomation,
  hostMappings,
  hostPatterns,
} from '../../../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect } from '../../../../api/latest.ts'
import type { EdgeConnectRecord } from '../../../../tenant/client/platform/edge-connects.ts'
import type { PlatformClient } from '../../../../tenant/client/platform/platform-client.ts'
import type { NamespaceView } from '../../../references/namespace-view.ts'
import { decodeSecret, type SecretData } from '../../../rendering/secret-data.ts'

/** Keys of the Secret with the client that the tenant made. */
export const CLIENT_KEYS = {
  id: 'oauth-client-id',
  secret: 'oauth-client-secret',
  resource: 'oauth-client-resource',
  edgeConnectId: 'id',
} as const

/** The client that the tenant created for an EdgeConnect. */
export interface ProvisionedClient {
  /** Of the EdgeConnect in the tenant. */
  readonly edgeConnectId: string
  readonly id: string
  readonly secret: string
  readonly resource: string
}

/** What provisioning works with. */
export interface ProvisionContext {
  readonly platform: PlatformClient
  readonly view: NamespaceView
  /** Reads from the server, before anything is destroyed. */
  readonly client: Pick<KubeClient, 'get'>
  /**
   * Rejects unless the EdgeConnect still exists as it was seen. Called before anything is created in the tenant: for a
   * deleted EdgeConnect it would never be removed.
   */
  readonly requireLive: () => Promise<void>
  /** Not that of the status: a reconcile that is cut leaves a setting in the tenant before it has written its status. */
  readonly clusterId: string
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** The name is taken by an EdgeConnect that the operator did not create. */
export class ForeignEdgeConnectError extends Error {
  readonly code = 'EDGECONNECT_FOREIGN'
  override readonly name = 'ForeignEdgeConnectError'

  constructor(name: string) {
    super(`the tenant has an EdgeConnect ${name} that is not managed by an operator; rename one of them`)
  }
}

/** The client in the Secret of an earlier reconcile; `undefined` when a part of it is missing. */
export function storedClient(edgeConnect: EdgeConnect, view: NamespaceView): ProvisionedClient | undefined {
  return clientIn(view.secret(clientSecretName(edgeConnect)))
}

/** The same, read from the server: the cache may not show yet what an earlier reconcile wrote. */
export async function liveClient(
  edgeConnect: EdgeConnect,
  context: ProvisionContext,
): Promise<ProvisionedClient | undefined> {
  const { client, view, signal } = context
  const key = { namespace: view.namespace, name: clientSecretName(edgeConnect) }
  try {
    return clientIn(decodeSecret((await client.get(Secrets, key, { signal })).data))
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function clientIn(data: SecretData = {}): ProvisionedClient | undefined {
  const { [CLIENT_KEYS.id]: id, [CLIENT_KEYS.secret]: secret, [CLIENT_KEYS.resource]: resource } = data
  const edgeConnectId = data[CLIENT_KEYS.edgeConnectId]
  return id && secret && resource && edgeConnectId ? { edgeConnectId, id, secret, resource } : undefined
}

/**
 * Creates or updates the EdgeConnect in the tenant, and returns its client.
 *
 * The tenant shows the secret of a client once, on creation. If it is lost, the EdgeConnect is created again.
 *
 * *Errors*: {@link ForeignEdgeConnectError}, `StaleViewError`, errors of the platform.
 */
export async function provision(edgeConnect: EdgeConnect, context: ProvisionContext): Promise<ProvisionedClient> {
  const { platform, view, requireLive, signal } = context
  const name = edgeConnect.metadata.name ?? ''
  const found = await platform.edgeConnects.findByName(name, { signal })
  if (found !== undefined && !found.managedByOperator) throw new ForeignEdgeConnectError(name)
  if (found !== undefined) {
    const seen = storedClient(edgeConnect, view)
    const stored = seen?.edgeConnectId === found.id ? seen : await liveClient(edgeConnect, context)
    if (stored?.edgeConnectId === found.id) {
      await keepInStep(edgeConnect, found, stored, context)
      return stored
    }
  }
  await requireLive()
  await requireStorable(edgeConnect, context)
  if (found !== undefined) await platform.edgeConnects.delete(found.id, { signal })
  const created = await platform.edgeConnects.create(requestOf(edgeConnect), { signal })
  return {
    edgeConnectId: created.id,
    id: created.oauthClientId,
    secret: created.oauthClientSecret,
    resource: created.oauthClientResource,
  }
}

/**
 * A view with the Secret of an earlier EdgeConnect of that name keeps the new client from being stored: its secret would be
 * lost, and the EdgeConnect created again and again until the view is current.
 */
async function requireStorable(edgeConnect: EdgeConnect, context: ProvisionContext): Promise<void> {
  const { client, view, signal } = context
  const name = clientSecretName(edgeConnect)
  if (view.secret(name) === undefined) return
  try {
    const owner = controllerOf(await client.get(Secrets, { namespace: view.namespace, name }, { signal }))
    const isOfEarlier = owner?.kind === edgeConnect.kind && owner.uid !== edgeConnect.metadata.uid
    // The garbage collector deletes it soon.
    if (isOfEarlier) throw new StaleViewError(edgeConnect)
  } catch (error) {
    throw isNotFound(error) ? new StaleViewError(edgeConnect, { cause: error }) : error
  }
}

const requestOf = (edgeConnect: EdgeConnect) => ({
  name: edgeConnect.metadata.name ?? '',
  hostPatterns: hostPatterns(edgeConnect),
  hostMappings: hostMappings(edgeConnect),
})

async function keepInStep(
  edgeConnect: EdgeConnect,
  { id }: EdgeConnectRecord,
  client: ProvisionedClient,
  { platform, signal }: ProvisionContext,
): Promise<void> {
  // The list shows names only.
  const { hostPatterns: known } = await platform.edgeConnects.get(id, { signal })
  if (known.join('\n') === hostPatterns(edgeConnect).join('\n')) return
  await platform.edgeConnects.update(id, { ...requestOf(edgeConnect), oauthClientId: client.id }, { signal })
}

const connectionOf = ({ metadata }: EdgeConnect, clusterId: string) => ({
  name: metadata.name ?? '',
  namespace: metadata.namespace ?? '',
  uid: clusterId,
})

/** Sends the tenant the token with which workflows reach the Kubernetes API through the EdgeConnect. */
export async function connectAutomation(
  edgeConnect: EdgeConnect,
  token: string,
  { platform, requireLive, clusterId, signal }: ProvisionContext,
): Promise<void> {
  const connection = { ...connectionOf(edgeConnect, clusterId), token }
  const found = await platform.connectionSettings.find(connection, { signal })
  if (found === undefined) {
    await requireLive()
    await platform.connectionSettings.create(connection, { signal })
  } else if (found.value.token !== token) {
    await platform.connectionSettings.update({ objectId: found.objectId, value: connection }, { signal })
  }
}

/** Takes that back. *Guarantees*: may be cut anywhere and run again. */
export async function disconnectAutomation(
  edgeConnect: EdgeConnect,
  { platform, clusterId, signal }: ProvisionContext,
): Promise<void> {
  const setting = await platform.connectionSettings.find(connectionOf(edgeConnect, clusterId), { signal })
  if (setting !== undefined) await platform.connectionSettings.delete(setting.objectId, { signal })
}

/**
 * Removes what the operator created in the tenant; what others created is kept.
 *
 * @param onlyId deletes the EdgeConnect only if it has this id
 *
 * *Guarantees*: may be cut anywhere and run again. *Errors*: errors of the platform: it is tried again.
 */
export async function deprovision(edgeConnect: EdgeConnect, context: ProvisionContext, onlyId?: string): Promise<void> {
  const { platform, view, logger, signal } = context
  const found = await platform.edgeConnects.findByName(edgeConnect.metadata.name ?? '', { signal })
  if (found !== undefined && !found.managedByOperator) return
  if (found !== undefined && onlyId !== undefined && found.id !== onlyId) return
  if (hasKubernetesAutomation(edgeConnect)) await disconnectAutomation(edgeConnect, context)
  if (found === undefined) return
  if (storedClient(edgeConnect, view)?.edgeConnectId !== found.id) {
    logger.warn({ id: found.id }, 'the EdgeConnect in the tenant is not the one that was made last')
  }
  await platform.edgeConnects.delete(found.id, { signal })
}
