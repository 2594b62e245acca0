/** Waits until the driver serves its socket. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '@reeve/runtime'
import { callUnix, isUnavailable } from './grpc/unix-client.ts'
import { readPluginName } from './wire/csi-messages.ts'

const RETRY_MS = 1_000
const TIMEOUT_MS = 10_000

/**
 * The name of the driver behind a socket; `undefined` if `signal` aborts first. Waits without a limit: the containers of a
 * pod start in any order.
 *
 * *Errors*: if the driver responds with an error, or has no name.
 */
export async function waitForDriver(
  socket: string,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<string | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const name = readPluginName(
        await callUnix(socket, '/csi.v1.Identity/GetPluginInfo', { timeoutMs: TIMEOUT_MS, signal }),
      )
      if (name === '') throw new Error(`the driver at ${socket} has no name`)
      return name
    } catch (error) {
      if (signal.aborted) break
      if (!isUnavailable(error)) throw error
      // Once is enough: a container may wait for minutes while the image of another is pulled.
      if (attempt === 0) logger.info({ socket }, 'waiting for the CSI driver')
      await pause(RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return undefined
}
