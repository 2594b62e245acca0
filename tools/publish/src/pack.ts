/** Packs built packages, exactly as they would be uploaded. */
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { OUTPUT } from './compile.ts'
import type { PublicPackage } from './public-packages.ts'

const run = promisify(execFile)

/** A package and its archive. */
export interface PackedPackage {
  readonly name: string
  /** The folder that was packed. */
  readonly folder: string
  /** Absolute path of the `.tgz` file. */
  readonly archive: string
}

/**
 * Packs built packages into a folder.
 *
 * @example
 * const packed = await packPackages(await buildPackages(), '/tmp/archives')
 */
export async function packPackages(
  packages: readonly PublicPackage[],
  destination: string,
): Promise<readonly PackedPackage[]> {
  await mkdir(destination, { recursive: true })
  const folders = packages.map(({ folder }) => join(folder, OUTPUT))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination, ...folders], {
    maxBuffer: 64 * 1_024 * 1_024,
  })
  // npm 11 lists the archives, npm 12 has them by name.
  const listed: readonly { readonly name: string; readonly filename: string }[] = Object.values(JSON.parse(stdout))
  return packages.map(({ manifest: { name } }, index) => {
    const filename = listed.find((one) => one.name === name)?.filename
    if (filename === undefined) throw new Error(`npm did not pack ${name}`)
    return { name, folder: folders[index] ?? '', archive: join(destination, filename) }
  })
}
