/**
 * The tenant as EdgeConnects see it: it reports when an operator removes an EdgeConnect whose credentials it still has.
 */
import type { OutboundRequest, OutboundResponse } from '@reeve/http'
import { isNotFound, type KubeClient, Secrets } from '@reeve/kube'
import type { OutsidePlace, PlainObject } from '@reeve/simulation'
import { clientSecretName } from '../src/api/edgeconnect/edgeconnect-facts.ts'
import { EdgeConnects } from '../src/api/latest.ts'
import { CLIENT_KEYS } from '../src/controllers/edgeconnect/components/registration/provision.ts'
import { decodeSecret } from '../src/controllers/rendering/secret-data.ts'
import { TenantWorld } from './tenant-world.ts'

/** Its state has an entry more as soon as an EdgeConnect was recreated without need, which no other run has. */
export class EdgeConnectWorld extends TenantWorld {
  readonly #client: KubeClient
  readonly #namespace: string
  readonly #hasty: string[] = []

  /** @param namespace where the EdgeConnects are */
  constructor(place: OutsidePlace, namespace: string) {
    super(place)
    this.#client = place.client
    this.#namespace = namespace
  }

  override async respond(request: OutboundRequest): Promise<OutboundResponse> {
    const removed = this.tenant.edgeConnects.list().find(({ id }) => request.url.pathname.endsWith(`/${id}`))
    if (request.method === 'DELETE' && removed && (await this.#isInUse(removed.name, removed.id))) {
      this.#hasty.push(removed.name)
    }
    return super.respond(request)
  }

  override state(): Readonly<Record<string, PlainObject>> {
    const hasty = this.#hasty.length > 0 && { 'removed while in use': { names: this.#hasty } }
    return { ...super.state(), ...hasty }
  }

  /** Whether the cluster declares the EdgeConnect and has its credentials, which cannot be obtained again. */
  async #isInUse(name: string, id: string): Promise<boolean> {
    const namespace = this.#namespace
    try {
      const edgeConnect = await this.#client.get(EdgeConnects, { namespace, name })
      if (edgeConnect.metadata.deletionTimestamp !== undefined) return false
      const { data } = await this.#client.get(Secrets, { namespace, name: clientSecretName(edgeConnect) })
      return decodeSecret(data)[CLIENT_KEYS.edgeConnectId] === id
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }
}
