#!/usr/bin/env node
// Says what is missing instead of failing on the first line of TypeScript, then hands over.
// The default import: an old Node refuses the whole file over a name that its module does not have.
import module from 'node:module'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`reeve-cluster needs Node 24 or newer; this is ${process.versions.node}`)
  process.exit(78)
}
module.enableCompileCache()
await import('../src/cli.ts')
