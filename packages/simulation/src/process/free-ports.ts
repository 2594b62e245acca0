/** Ports on this machine for the servers of a process: its metrics, its probes, its webhooks. */
import { createServer } from 'node:net'

/** How many ports an instance gets. */
const PORTS_PER_INSTANCE = 4

/** Ports that nothing listens on at the moment, all different. */
export async function freePorts(count: number = PORTS_PER_INSTANCE): Promise<readonly number[]> {
  // All are open at the same time, or the second would be the first again.
  const servers = await Promise.all(Array.from({ length: count }, listen))
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

function listen() {
  const server = createServer()
  return new Promise<typeof server>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}
