/** Builds the program that parses expressions in alerts and dashboards of charts, see `promql`. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from './binaries.ts'
import { ensureProgram, findProgram, type GoProgram, type GoProgramOptions, inFolder } from './go-program.ts'

const moduleFolder = fileURLToPath(new URL('../promql', import.meta.url))

/** The program if it has been built from the current sources; `undefined` otherwise. */
export function findPromqlCheck(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  return findProgram(promqlCheck(env))
}

/**
 * The program, built first if necessary, which takes about a minute on two cores.
 *
 * *Errors*: `GoMissingError`, `BuildFailedError`.
 *
 * @example
 * const check = await ensurePromqlCheck()
 */
export function ensurePromqlCheck(options: GoProgramOptions = {}): Promise<string> {
  return ensureProgram(promqlCheck(options.env ?? process.env), options)
}

function promqlCheck(env: NodeJS.ProcessEnv): GoProgram {
  return {
    path: join(cacheFolder(env), `promql-${process.platform}-${process.arch}`),
    sources: inFolder(moduleFolder, ['go.mod', 'go.sum', 'main.go']),
    moduleFolder,
    package: '.',
  }
}
