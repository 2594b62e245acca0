/** npm packages that load a binary and therefore stay outside the bundle. */
import { cp, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fetchPackage, type PackageSource } from './locked-package.ts'

/** What runs, and the licence; sources and documentation stay out of the image. */
const NEEDED = /(?:\.(?:js|cjs|json|node)|LICENSE[^/]*)$/

/** Copies what a package needs to run below `modules`. */
export async function installNativePackage(name: string, modules: string, source: PackageSource): Promise<void> {
  const folder = await fetchPackage(name, source)
  await cp(folder, join(modules, name), {
    recursive: true,
    filter: async (path) => NEEDED.test(path) || (await stat(path)).isDirectory(),
  })
}
