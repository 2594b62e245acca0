/** The life of a server: it listens, says where, and is stopped by a signal. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from '../logging/logger.ts'
import { limitConnections } from './limit-connections.ts'

/** How a server listens and stops. */
export interface ListenOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Beyond this many the longest idle connection is closed. */
  readonly maxConnections: number
  /** Stops the server. */
  readonly signal: AbortSignal
  /** Completes what is in progress and closes the server. Not called when it never listened. */
  readonly stop: () => Promise<void>
  /** Called with the address, before anybody else learns it. */
  readonly onListening?: (address: AddressInfo) => void
}

/**
 * Listens for one server, once.
 *
 * @example
 * const listener = new Listener(logger, 'serving health and metrics')
 * await listener.run(server, { host, port, maxConnections: 100, signal, stop: () => close(server) })
 */
export class Listener {
  readonly #logger: Logger
  readonly #message: string
  readonly #listening = Promise.withResolvers<AddressInfo>()

  /** @param message logged with the address */
  constructor(logger: Logger, message: string) {
    this.#logger = logger
    this.#message = message
    // Nothing may await the address: that must not be an unhandled rejection.
    this.#listening.promise.catch(() => undefined)
  }

  /** Resolves with the address once the server listens; rejects when it cannot. */
  address(): Promise<AddressInfo> {
    return this.#listening.promise
  }

  /** The server cannot listen, because it could not even be created. */
  fail(error: unknown): void {
    this.#listening.reject(error)
  }

  /** Resolves when the server was stopped by the signal and is closed. *Errors*: it cannot listen, or fails later. */
  async run(server: Server, options: ListenOptions): Promise<void> {
    const { host, port, maxConnections, signal, stop, onListening } = options
    limitConnections(server, maxConnections)
    const bound = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    // Awaited only once it listens.
    stopped.promise.catch(() => undefined)
    const onError = (error: Error) => {
      bound.reject(error)
      stopped.reject(error)
    }
    const onAbort = () => stopped.resolve()
    server.on('error', onError)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      server.listen({ host, port }, bound.resolve)
      await bound.promise
      const address = server.address() as AddressInfo // a TCP server that listens has one
      this.#logger.info({ address: address.address, port: address.port }, this.#message)
      onListening?.(address)
      this.#listening.resolve(address)
      await stopped.promise
    } catch (error) {
      this.#listening.reject(error)
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
      if (server.listening) await stop()
      server.off('error', onError)
    }
  }
}

/** Closes a server: no new connections; resolves when `whenDone` has, and no connection is left. */
export async function closeServer(
  server: Server,
  whenDone: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  await whenDone()
  server.closeAllConnections()
  await closed
}
