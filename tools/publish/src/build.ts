/** `npm run build`: builds every public package into its `dist`, as it is published. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { compile, OUTPUT } from './compile.ts'
import { type PublicPackage, publicPackages, REPOSITORY } from './public-packages.ts'
import { publishedManifest } from './published-manifest.ts'

const run = promisify(execFile)

/**
 * Builds all public packages and returns them in the order of their dependencies.
 *
 * @example
 * await buildPackages({ repository: process.env.GITHUB_REPOSITORY })
 */
export async function buildPackages(options: { readonly repository?: string } = {}): Promise<readonly PublicPackage[]> {
  const packages = await publicPackages()
  for (const [index, one] of packages.entries()) {
    const output = join(one.folder, OUTPUT)
    await rm(output, { recursive: true, force: true })
    await mkdir(output)
    if (one.manifest.exports !== undefined) await compile(one, packages.slice(0, index))
    await buildFiles(one, output)
    await copyFiles(one, output)
    const manifest = publishedManifest(one.manifest, { ...options, directory: relative(REPOSITORY, one.folder) })
    await writeFile(join(output, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  }
  return packages
}

/** What a package builds besides compiled code: its script `build:files` writes it to `OUTDIR`. */
async function buildFiles({ folder, manifest }: PublicPackage, output: string): Promise<void> {
  if (manifest.scripts?.['build:files'] === undefined) return
  await run('npm', ['run', '--silent', 'build:files'], { cwd: folder, env: { ...process.env, OUTDIR: output } })
}

/** What is published besides compiled code. */
async function copyFiles({ folder, manifest }: PublicPackage, output: string): Promise<void> {
  const listed = manifest.files ?? []
  for (const name of new Set(['README.md', 'CHANGELOG.md', ...listed])) {
    const source = join(folder, name)
    if (existsSync(source)) await cp(source, join(output, name), { recursive: true })
  }
  await cp(join(REPOSITORY, 'LICENSE'), join(output, 'LICENSE'))
}
