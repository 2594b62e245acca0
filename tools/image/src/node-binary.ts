/** The Node binary of a platform: the npm package that this repository pins. */
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fetchPackage, lockedVersion, type PackageSource } from './locked-package.ts'
import { nodePackage, type Platform } from './platform.ts'

/** The version of Node that images contain. */
export async function nodeVersion(repository: string): Promise<string> {
  return lockedVersion(repository, nodePackage('linux/amd64'))
}

/** Copies the Node binary of a platform and its licence into `root`. */
export async function installNode(platform: Platform, root: string, source: PackageSource): Promise<void> {
  const folder = await fetchPackage(nodePackage(platform), source)
  await mkdir(join(root, 'usr/local/bin'), { recursive: true })
  await cp(join(folder, 'bin/node'), join(root, 'usr/local/bin/node'))
  await mkdir(join(root, 'usr/share/doc/node'), { recursive: true })
  await cp(join(folder, 'LICENSE'), join(root, 'usr/share/doc/node/copyright'))
}
