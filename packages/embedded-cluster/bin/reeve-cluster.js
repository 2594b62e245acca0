#!/usr/bin/env node
// Checks the version of Node, which would otherwise fail on the first line of TypeScript, then runs the command.
// The default import: an old Node rejects the whole file for a name that the module does not export.
import module from 'node:module'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`reeve-cluster needs Node 24 or newer; this is ${process.versions.node}`)
  process.exit(78)
}
module.enableCompileCache()
await import('../src/cli.ts')
