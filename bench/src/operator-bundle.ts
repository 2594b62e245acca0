/** The bundles of the image of the Dynatrace operator. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PACKAGE = fileURLToPath(new URL('../../operators/dynatrace', import.meta.url))
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Bundles all but the operator itself into a folder; returns the path of the entry point. */
export async function bundleSmallCommands(folder: string): Promise<string> {
  const outdir = join(folder, 'bundle')
  await mkdir(outdir)
  // The native addon for mounts lies beside the bundle, as in the image; without it the driver does not start.
  await symlink(PACKAGES, join(outdir, 'node_modules'))
  await promisify(execFile)('npm', ['run', 'bundle:small'], { cwd: PACKAGE, env: { ...process.env, OUTDIR: outdir } })
  const program = join(outdir, 'dynatrace-operator.js')
  await copyFile(join(PACKAGE, 'bin/image-entry.cjs'), program)
  return program
}
