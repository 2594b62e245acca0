/** The world outside the cluster, as a plan sees it: it is read and never changed. */
import { environmentProxy, noProxy, Outbound, openOutbound, type Sender, usableCertificates } from '@reeve/http'
import { createRegistryClient, type RegistryClient, type RegistryClientOptions } from '@reeve/oci'
import { USER_AGENT } from '../tenant/client/defaults.ts'
import {
  createPlatformClient,
  type PlatformClient,
  type PlatformClientOptions,
} from '../tenant/client/platform/platform-client.ts'
import { createTenantClient, type TenantClient, type TenantClientOptions } from '../tenant/client/tenant-client.ts'
import type { TenantWatch } from './tenant-watch.ts'

/** What the reconcile functions are given to reach tenants and registries. */
export interface World {
  connect(options: TenantClientOptions): TenantClient
  openPlatform(options: PlatformClientOptions): PlatformClient
  openRegistry(options: RegistryClientOptions): RegistryClient
}

/** How requests leave the process. */
export interface Exits {
  tenant(options: TenantClientOptions): Sender
  platform(options: PlatformClientOptions): Sender
  /** `undefined` for connections of the client's own. */
  registry(): Sender | undefined
}

/**
 * A world behind `exits`, with `watch` before each of them. Registries need no watch: their client can only read.
 *
 * @example
 * const world = watchedWorld(networkExits(), new TenantWatch())
 */
export function watchedWorld(exits: Exits, watch: TenantWatch): World {
  return {
    // The time of a plan stands still; deadlines and retries need one that passes.
    connect: ({ clock: _still, ...options }) =>
      createTenantClient({ ...options, sender: watch.over(exits.tenant(options)) }),
    openPlatform: ({ clock: _still, ...options }) =>
      createPlatformClient({ ...options, sender: watch.over(exits.platform(options)) }),
    openRegistry: (options) => {
      const sender = exits.registry()
      return createRegistryClient({ ...options, ...(sender && { sender }) })
    },
  }
}

/** The real world: the same proxies and authorities as those of the operator. */
export function networkExits(env: Readonly<Record<string, string | undefined>> = process.env): Exits {
  return {
    tenant: (options) => openOutbound({ env, userAgent: USER_AGENT, ...options }),
    platform: (options) => platformSender(options, env),
    registry: () => undefined,
  }
}

/** The API is contacted directly, the token endpoint through the proxy of the process if it has one. */
function platformSender(
  { apiServer, trustedCertificates = '', userAgent = USER_AGENT }: PlatformClientOptions,
  env: Readonly<Record<string, string | undefined>>,
): Sender {
  const common = { trustedCertificates: usableCertificates(trustedCertificates), userAgent }
  const direct = new Outbound({ ...common, proxy: noProxy })
  const proxied = new Outbound({ ...common, proxy: environmentProxy(env) })
  const { host } = new URL(`https://${apiServer}`)
  return {
    send: (request) => (request.url.host === host ? direct : proxied).send(request),
    close: async () => {
      await Promise.all([direct.close(), proxied.close()])
    },
  }
}
