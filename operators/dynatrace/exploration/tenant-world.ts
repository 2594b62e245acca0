/** The Dynatrace tenant as the world outside the cluster, and the way an operator's requests take there. */
import { createHash } from 'node:crypto'
import { HttpConnectionError, type OutboundRequest, type OutboundResponse, type Sender } from '@reeve/http'
import type { OutsideCall, OutsidePlace, OutsideWorld, PlainObject } from '@reeve/simulation'
import { TENANT_DEFAULTS } from '../src/tenant/simulator/defaults.ts'
import { SimulatedTenants } from '../src/tenant/simulator/simulated-tenants.ts'
import type { TenantState } from '../src/tenant/simulator/state/tenant-state.ts'

/** The tenant of DynaKubes by default. */
export const TENANT = 'abc12345'

/** By which name the tenant is called. */
export const AUTHORITY = 'environment.example.com'

/** A simulated tenant whose settings and EdgeConnects are part of what two good runs agree on. */
export class TenantWorld implements OutsideWorld {
  readonly simulator: SimulatedTenants

  /**
   * @param tenants one for each DynaKube with its own tenant
   * @param agentSizeBytes of each agent
   */
  constructor(
    { clock, random }: Pick<OutsidePlace, 'clock' | 'random'>,
    tenants: readonly string[] = [TENANT],
    agentSizeBytes: number = TENANT_DEFAULTS.agentSizeBytes,
  ) {
    const options = { authority: AUTHORITY, clock, random: repeatableBytes(random()), registry: { agentSizeBytes } }
    this.simulator = new SimulatedTenants({ ...options, tenants: tenants.map((id) => ({ id, agentSizeBytes })) })
  }

  /** The tenant that DynaKubes talk to unless they say otherwise. */
  get tenant(): TenantState {
    return this.simulator.tenant(TENANT)
  }

  /** What the tenant makes of a request. */
  respond(request: OutboundRequest): Promise<OutboundResponse> {
    return this.simulator.respond(request)
  }

  /** Without ids and times, and without tokens of gateways: each interrupted installation requested another one. */
  state(): Readonly<Record<string, PlainObject>> {
    return Object.fromEntries(this.simulator.tenants().flatMap(stateOf))
  }
}

function stateOf({ id, settings, edgeConnects, oauth }: TenantState): readonly (readonly [string, PlainObject])[] {
  const bySchema = Map.groupBy(settings.list(), ({ schemaId }) => schemaId)
  return [
    ...[...bySchema].map(([schemaId, objects]) => {
      const values = objects.map(({ scope, value: { token: _, ...value } }) => ({ scope, value }))
      return [`${id} ${schemaId}`, { values }] as const
    }),
    ...edgeConnects.list().map(({ name, hostPatterns, hostMappings }) => {
      return [`${id} EdgeConnect ${name}`, { hostPatterns, hostMappings }] as const
    }),
    // One that no EdgeConnect belongs to anymore would be left behind.
    [`${id} OAuth clients`, { count: oauth.list().length }],
  ]
}

/**
 * Bytes that are the same in every run. Each size has its own stream: one more token, requested after a crash,
 * must not change the ids of entities, which are shorter.
 */
function repeatableBytes(seed: number): (count: number) => Uint8Array {
  const drawn = new Map<number, number>()
  return (count) => {
    const turn = (drawn.get(count) ?? 0) + 1
    drawn.set(count, turn)
    return createHash('shake256', { outputLength: count }).update(`${seed} ${count} ${turn}`).digest()
  }
}

/** Sends requests to the tenant through the seam of the exploration. */
export function senderInto(world: TenantWorld, call: OutsideCall): Sender {
  return {
    async send(request) {
      const { method, url, signal } = request
      const operation = `${method} ${url.pathname}`
      try {
        const response = call(operation, () => world.respond(request))
        return signal === undefined ? await response : await Promise.race([response, aborted(signal)])
      } catch (error) {
        if (!isLetFail(error)) throw error
        // It is unknown whether the request arrived.
        throw new HttpConnectionError(`${url.host}: ${error.message}`, 'request', { cause: error })
      }
    },
    close: async () => undefined,
  }
}

/** By its code: the operator does not depend on the exploration. */
function isLetFail(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'OUTSIDE_CALL'
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
