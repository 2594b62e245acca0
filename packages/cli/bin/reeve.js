#!/usr/bin/env node
// Checks the version of Node, which would otherwise fail with an error that says nothing about it, then runs the command:
// compiled in a published package, from its sources in a checkout.
// The default imports: an old Node rejects the whole file for a name that the module does not export.
import fs from 'node:fs'
import module from 'node:module'

const compiled = new URL('../lib/reeve/main.js', import.meta.url)
const isCompiled = fs.existsSync(compiled)
const needed = isCompiled ? [22, 19] : [24, 0]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(`reeve needs Node ${needed.join('.')} or newer; this is ${process.versions.node}`)
  process.exit(78)
}
module.enableCompileCache()
await import(isCompiled ? compiled.href : '../src/reeve/main.ts')
