/** `npm run build` builds the public packages; `npm run check:packages` also checks what would be published. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { buildPackages } from './build.ts'
import { packageProblems } from './check.ts'
import { OUTPUT } from './compile.ts'
import { packPackages } from './pack.ts'
import { REPOSITORY } from './public-packages.ts'

const { GITHUB_REPOSITORY: repository } = process.env
const packages = await buildPackages({ ...(repository !== undefined && { repository }) })
for (const { folder } of packages) process.stdout.write(`${relative(REPOSITORY, folder)}/${OUTPUT}\n`)
if (process.argv.includes('--check')) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-packages-'))
  try {
    const packed = await packPackages(packages, folder)
    const problems = (await Promise.all(packed.map(packageProblems))).flat()
    for (const problem of problems) process.stderr.write(`${problem}\n`)
    process.exitCode = problems.length === 0 ? 0 : 1
  } finally {
    await rm(folder, { recursive: true })
  }
}
