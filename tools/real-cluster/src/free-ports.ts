/** Finds unused ports. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Reserves `count` distinct loopback ports and releases them.
 *
 * Assumptions: another process may take one before it is bound; callers must be ready to retry.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  try {
    // All are held at once, so that the system cannot assign one of them twice.
    return await Promise.all(
      servers.map(async (server) => {
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        const address = server.address()
        if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
        return address.port
      }),
    )
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}
