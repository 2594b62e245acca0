/**
 * `node bundle.ts <entry> [--extension .cjs] [--external <package>]`: writes the bundle of an operator to the folder OUTDIR.
 *
 * The bundle is CommonJS: modules would load slower, and an import of `node:http` also makes Node load its own copy of
 * undici. esbuild divides a bundle into files, of which only those that are needed are loaded, only if they are modules. So
 * each of these is converted by itself.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { build, type CommonOptions, transform } from 'esbuild'

/** Names stay as they are, for stack traces. */
const READABLE: CommonOptions = {
  platform: 'node',
  target: 'node24',
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
}
const OWN_URL = '__ownUrl'
const OWN_URL_OF_FILE = `const ${OWN_URL}=require('node:url').pathToFileURL(__filename).href;`
/** As modules always are. */
const STRICT = '"use strict";'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    extension: { type: 'string', default: '.js' },
    external: { type: 'string', multiple: true, default: [] },
  },
})
const folder = process.env.OUTDIR ?? 'dist'
const { outputFiles } = await build({
  ...READABLE,
  entryPoints: positionals,
  external: values.external,
  bundle: true,
  splitting: true,
  format: 'esm',
  outExtension: { '.js': values.extension },
  outdir: folder,
  write: false,
})
await mkdir(folder, { recursive: true })
await Promise.all(
  outputFiles.map(async ({ path, text }) => {
    const isEntry = text.startsWith('#!')
    const { code } = await transform(text, {
      ...READABLE,
      sourcefile: basename(path),
      format: 'cjs',
      define: { 'import.meta.url': OWN_URL },
      // Converted to require() with the others.
      supported: { 'dynamic-import': false },
      banner: text.includes('import.meta.url') ? `${STRICT}${OWN_URL_OF_FILE}` : STRICT,
    })
    await writeFile(path, code, { mode: isEntry ? 0o755 : 0o644 })
  }),
)
await writeFile(join(folder, 'package.json'), '{"type":"commonjs"}\n')
