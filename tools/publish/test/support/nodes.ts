/** Releases of Node, installed from the registry: `npm ci` brings only one of them. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { succeed } from '../../src/run.ts'

/** The registry has a package with the binary for this platform. */
export const hasNodes = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)

/** Installs the newest release of a major version below `folder`, and returns the folder of its binary. */
export async function installNode(major: number, folder: string): Promise<string> {
  const cwd = join(folder, `node-${major}`)
  await mkdir(cwd, { recursive: true })
  await writeFile(join(cwd, 'package.json'), '{ "private": true }')
  const name = `node-${process.platform}-${process.arch}`
  await succeed('npm', ['install', '--no-audit', '--no-fund', `${name}@${major}`], { cwd })
  return join(cwd, 'node_modules', name, 'bin')
}
