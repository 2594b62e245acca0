// What `image-entry.cjs` runs for `bootstrap`. Bundled alone and as CommonJS, which starts fastest.
import { bootstrap } from '../src/bootstrapper/bootstrap.ts'

bootstrap(process.argv.slice(3)).then((code) => {
  process.exitCode = code
})
