/** Builds the Go program that uses a cluster through client-go, see `cmd/client-probe`. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { binariesFolder } from './binaries.ts'
import { ensureProgram, findProgram, type GoProgram, type GoProgramOptions, inFolder } from './go-program.ts'

const moduleFolder = fileURLToPath(new URL('..', import.meta.url))
const sourceFolder = join(moduleFolder, 'cmd', 'client-probe')

/** The program if it has been built from the current sources; `undefined` otherwise. */
export async function findClientProbe(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  return findProgram(await clientProbe(env))
}

/**
 * The program, built first if necessary: seconds once the control plane has been built, minutes on a fresh machine.
 *
 * Errors: `GoMissingError`, `BuildFailedError`.
 *
 * @example
 * const probe = await ensureClientProbe()
 */
export async function ensureClientProbe(options: GoProgramOptions = {}): Promise<string> {
  return ensureProgram(await clientProbe(options.env), options)
}

async function clientProbe(env?: NodeJS.ProcessEnv): Promise<GoProgram> {
  return {
    path: join(await binariesFolder(env), 'client-probe'),
    sources: inFolder(sourceFolder, await readdir(sourceFolder)),
    moduleFolder,
    package: './cmd/client-probe',
  }
}
