/**
 * `npm run api-report`: writes the public API of each package into its `public-api.txt`, so that a review shows every
 * change of it. With `--check` it writes nothing and exits 1 when a file differs.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { publicPackages, REPOSITORY } from '@reeve/publish'
import ts from 'typescript'
import { describeApis } from './public-api.ts'

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

const { config } = ts.readConfigFile(join(REPOSITORY, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, REPOSITORY)
const packages = (await publicPackages()).flatMap(({ folder, manifest: { name, exports } }) => {
  const sources = Object.entries(exports ?? {}).filter(([, file]) => file.endsWith('.ts'))
  return sources.length === 0 ? [] : [{ name, folder, exports: Object.fromEntries(sources) }]
})
const stale: string[] = []
for (const [index, text] of describeApis(packages, options).entries()) {
  const file = join(packages[index]?.folder ?? '', 'public-api.txt')
  if ((await readFile(file, 'utf8').catch(() => '')) === text) continue
  stale.push(relative(REPOSITORY, file))
  if (!values.check) await writeFile(file, text)
}
if (values.check && stale.length > 0) {
  console.error(`the public API changed: run \`npm run api-report\` and commit ${stale.join(', ')}`)
  process.exitCode = 1
}
