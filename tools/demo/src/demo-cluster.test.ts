import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { openDemoCluster } from './demo-cluster.ts'

test('a port that is taken is named, with the way out', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  // Listening on TCP, it has an address with a port.
  const { port } = other.address() as AddressInfo
  await expect(openDemoCluster('embedded', { port })).rejects.toThrow(`port ${port} is taken: choose another by --port`)
  other.close()
  await once(other, 'close')
})
