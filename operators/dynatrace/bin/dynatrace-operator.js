#!/usr/bin/env node
// Says what is missing instead of failing on the first line of TypeScript, then hands over.
import module from 'node:module'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(`dynatrace-operator needs Node 24 or newer; this is ${process.version}`)
  process.exit(78)
}
module.enableCompileCache()
// Bundled as CommonJS, hence no top-level await.
import('../src/cli/main.ts')
  .then(({ main }) => main(process.argv))
  .then((code) => {
    process.exitCode = code
  })
