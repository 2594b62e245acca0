/**
 * Writes objects to a persistent cluster and prints the name of each one once it is acknowledged, until it is killed.
 */
import { startEmbeddedCluster } from '../../src/index.ts'

const [, , dataDir = ''] = process.argv
const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false, dataDir })
for (let index = 0; ; index += 1) {
  const metadata = { name: `n${index}`, namespace: 'default' }
  await cluster.api.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  process.stdout.write(`n${index}\n`)
  // Yields to the pipe and to signals.
  if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
}
