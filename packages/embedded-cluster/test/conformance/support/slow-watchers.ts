/** Clients that open a watch and do not read it. */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { ClusterUnderTest } from '@reeve/cluster-under-test'
import { request } from './bare-connection.ts'

type Connection = ClusterUnderTest['connection']

/** Watches, each over its own connection, whose bytes are not read after the first ones. */
export class SlowWatchers implements AsyncDisposable {
  readonly #sockets: readonly TLSSocket[]

  private constructor(sockets: readonly TLSSocket[]) {
    this.#sockets = sockets
  }

  /** Resolves when the server has started all responses. */
  static async open({ server, ca, cert, key }: Connection, path: string, count: number): Promise<SlowWatchers> {
    const { hostname: host, port } = new URL(server)
    const options = { host, port: Number(port), ca, cert, key, ALPNProtocols: ['http/1.1'] }
    const opening = Array.from({ length: count }, async () => {
      const socket = connect(options)
      // The server may close watches of clients that do not read.
      socket.on('error', () => socket.destroy())
      socket.write(request(`GET ${path}`))
      await once(socket, 'readable')
      return socket
    })
    return new SlowWatchers(await Promise.all(opening))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
  }
}
