/** Announces the driver to the kubelet. */
import { join } from 'node:path'
import type { Logger } from '@reeve/runtime'
import { serveUnix } from '../grpc/unix-server.ts'
import { waitForDriver } from '../wait-for-driver.ts'
import { readRegistrationStatus, writePluginRegistration } from '../wire/registration-messages.ts'

/** Options of {@link runRegistrar}. */
export interface RegistrarOptions {
  /** The socket of the driver, as this process sees it. */
  readonly csiSocket: string
  /** The same socket as the kubelet sees it: a path of the node. */
  readonly kubeletSocket: string
  /** The directory in which the kubelet looks for plugins. */
  readonly registrationDirectory: string
  readonly logger: Logger
}

/** Of the registration protocol, not of the driver. */
const SUPPORTED_VERSIONS = ['v1.0.0']
const OWNER_ONLY = 0o600
const EMPTY = new Uint8Array()

/**
 * Serves the registration socket until `signal` aborts and removes it then, which unregisters the driver. The
 * socket appears only after the driver responds.
 *
 * *Errors*: if the driver responds with an error, or the socket cannot be made.
 */
export async function runRegistrar(options: RegistrarOptions, signal: AbortSignal): Promise<void> {
  const { csiSocket, kubeletSocket: endpoint, registrationDirectory, logger } = options
  const name = await waitForDriver(csiSocket, { logger, signal })
  if (name === undefined) return
  const registration = {
    GetInfo: async () =>
      writePluginRegistration({ type: 'CSIPlugin', name, endpoint, supportedVersions: SUPPORTED_VERSIONS }),
    NotifyRegistrationStatus: async (bytes: Uint8Array) => {
      const { isRegistered, error } = readRegistrationStatus(bytes)
      // Exiting would not help: the kubelet retries on its own when the socket appears or it is restarted.
      if (isRegistered) logger.info({ driver: name }, 'the kubelet registered the driver')
      else logger.error({ driver: name, reason: error }, 'the kubelet did not register the driver')
      return EMPTY
    },
  }
  const socket = join(registrationDirectory, `${name}-reg.sock`)
  const services = { 'pluginregistration.Registration': registration }
  await serveUnix(socket, services, { signal, logger, socketMode: OWNER_ONLY })
}
