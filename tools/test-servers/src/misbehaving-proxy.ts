/** A proxy whose behaviour a test defines, over TCP or TLS. */
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { KeyPair } from './certificates.ts'
import { listen } from './wire.ts'

/** A running proxy. */
export interface MisbehavingProxy extends AsyncDisposable {
  /** Host and port. */
  readonly address: string
  /** The first lines of all requests. */
  readonly seen: readonly string[]
}

/** Handles a request after its headers have arrived. */
export type ProxyBehaviour = (socket: Socket, target: { readonly host: string; readonly port: number }) => void

/** Starts a proxy; with a certificate it uses TLS. */
export async function startMisbehavingProxy(behave: ProxyBehaviour, pair?: KeyPair): Promise<MisbehavingProxy> {
  const seen: string[] = []
  const sockets = new Set<Socket>()
  const onSocket = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Disconnects are tested by the client under test.
    socket.on('error', () => undefined)
    let head = ''
    const onData = (chunk: Buffer) => {
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', onData)
      const [line = ''] = head.split('\r\n')
      seen.push(line)
      const [host = '', port = ''] = (line.split(' ')[1] ?? '').split(':')
      behave(socket, { host, port: Number(port) })
    }
    socket.on('data', onData)
  }
  const server: Server = pair
    ? createTlsServer({ cert: pair.certificate, key: pair.key }, onSocket)
    : createServer(onSocket)
  const port = await listen(server)
  return {
    address: `127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
