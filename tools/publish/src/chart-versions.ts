/** The last step of `npm run release:version`: gives the charts the version that changesets gave the packages. */
import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { publicPackages, REPOSITORY } from './public-packages.ts'

const [first] = await publicPackages()
if (first === undefined) throw new Error('there is no public package')
const { version } = first.manifest
for (const path of globSync('operators/*/chart/Chart.yaml', { cwd: REPOSITORY })) {
  const file = join(REPOSITORY, path)
  const text = await readFile(file, 'utf8')
  // Only these two lines, so that comments and order stay.
  await writeFile(file, text.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`))
  process.stdout.write(`${path}: ${version}\n`)
}
