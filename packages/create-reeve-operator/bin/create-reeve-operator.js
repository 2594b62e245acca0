#!/usr/bin/env node
// `npm create reeve-operator`: the same as `reeve init`, which also checks the version of Node.
process.argv.splice(2, 0, 'init')
await import(new URL('../bin/reeve.js', import.meta.resolve('@reeve/cli')).href)
