/** Plays a Service and kube-proxy in front of webhooks: only pods that are ready get connections. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream'

interface Server {
  address(): Promise<{ readonly port: number }>
}

/** A process of an operator with webhooks and a health server. */
export interface Pod {
  readonly manager: { readonly healthServer: Server | undefined }
  readonly webhooks: { readonly server: Server } | undefined
}

/** See {@link startReadyService}. */
export interface ReadyService extends AsyncDisposable {
  /** Where the API server finds the webhooks. */
  readonly url: string
  /** The pods that the Service selects, ready or not. */
  readonly pods: Set<Pod>
}

/** Forwards each connection to the first pod whose `/readyz` returns 200 at that time, and closes it if there is none. */
export async function startReadyService(): Promise<ReadyService> {
  const pods = new Set<Pod>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    void forward(socket)
  })
  const forward = async (socket: Socket) => {
    for (const { manager, webhooks } of pods) {
      const health = await manager.healthServer?.address()
      const isReady = await fetch(`http://127.0.0.1:${health?.port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (!isReady || webhooks === undefined) continue
      const { port } = await webhooks.server.address()
      const pod = connect(port, '127.0.0.1')
      pipeline(socket, pod, socket, () => undefined)
      return
    }
    socket.destroy()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on TCP
  return {
    url: `https://127.0.0.1:${port}`,
    pods,
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
