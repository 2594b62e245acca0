/** The bundles of the bootstrappers, as they are in an image. */
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import manifest from '../../../package.json' with { type: 'json' }

const PACKAGE = fileURLToPath(new URL('../../..', import.meta.url))
const PROGRAMS = fileURLToPath(new URL('../../../../../node_modules/.bin', import.meta.url))

/** As for images, but without the programs that no init container runs: they are a hundred times as large. */
const BUNDLE = manifest.scripts['bundle:small'].replace(/bin\/(small|node)-commands\.js /g, '')

/** Programs far from `node_modules`. */
export interface BootstrapperBundle extends AsyncDisposable {
  readonly folder: string
  /** The entry point of the operator's image. */
  readonly operator: string
  /** The entry point of an image of code modules. */
  readonly standalone: string
}

/** Bundles them. */
export async function bundleBootstrapper(): Promise<BootstrapperBundle> {
  const folder = await mkdtemp(join(tmpdir(), 'bootstrapper-bundle-'))
  const env = { ...process.env, OUTDIR: folder, PATH: `${PROGRAMS}:${process.env.PATH}` }
  await promisify(execFile)('sh', ['-c', BUNDLE], { cwd: PACKAGE, env })
  const operator = join(folder, 'dynatrace-operator.js')
  await copyFile(join(PACKAGE, 'bin/image-entry.cjs'), operator)
  return {
    folder,
    operator,
    standalone: join(folder, 'dynatrace-bootstrapper.js'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
