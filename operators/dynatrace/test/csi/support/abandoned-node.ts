/** A test that is killed midway: starts a node with a driver and a volume, prints where they are, and never stops them. */
import { csiNode } from './csi-node.ts'

const node = await csiNode()
await node.installModule('1', 'dk')
const driver = await node.start()
const outcome = await driver.publish({ pod: 'web' })
const mounts = await node.mounts()
const holder = /--target=(\d+)/.exec(node.prefix.join(' '))?.[1]
console.log(
  JSON.stringify({ folder: node.folder, outcome, mounts: mounts.length, pids: [Number(holder), driver.process.pid] }),
)
