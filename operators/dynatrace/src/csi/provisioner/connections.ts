/** The clients that installations use. */
import type { RequestHook } from '@reeve/http'
import { createRegistryClient } from '@reeve/oci'
import { createTenantClient } from '../../tenant/client/tenant-client.ts'
import type { Connections } from './install/install-context.ts'

/** Connects over the network; `onRequest` is called for every request. */
export function networkConnections(onRequest?: RequestHook): Connections {
  const observed = onRequest === undefined ? {} : { onRequest }
  return {
    connectTenant: (options) => createTenantClient({ ...options, ...observed }),
    openRegistry: (options) => createRegistryClient({ ...options, ...observed }),
  }
}
