#!/usr/bin/env node
// The entry point of an image of code modules. Bundled as CommonJS, which starts faster, hence no top-level await.
import { standalone } from '../src/bootstrapper/standalone.ts'

standalone(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
