/** The Identity service of the Container Storage Interface. */
import type { Method } from '../grpc/unix-server.ts'
import { DRIVER_NAME } from '../names.ts'
import { writePluginInfo } from '../wire/csi-messages.ts'

const EMPTY = new Uint8Array()

/** The methods of the service. `Probe` leaves `ready` unset, which means ready. */
export function identityService(version: string): Readonly<Record<string, Method>> {
  return {
    GetPluginInfo: async () => writePluginInfo({ name: DRIVER_NAME, version }),
    GetPluginCapabilities: async () => EMPTY,
    Probe: async () => EMPTY,
  }
}
