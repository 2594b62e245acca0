/** Builds csi-sanity, the conformance suite of the Container Storage Interface, see `csi-sanity`. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from './binaries.ts'
import { ensureProgram, findProgram, type GoProgram, type GoProgramOptions, inFolder } from './go-program.ts'

const moduleFolder = fileURLToPath(new URL('../csi-sanity', import.meta.url))

/** The suite if it has been built from the current sources; `undefined` otherwise. */
export function findCsiSanity(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  return findProgram(csiSanity(env))
}

/**
 * The suite, built first if necessary, which takes about a minute on two cores.
 *
 * *Errors*: `GoMissingError`, `BuildFailedError`.
 *
 * @example
 * const sanity = await ensureCsiSanity()
 */
export function ensureCsiSanity(options: GoProgramOptions = {}): Promise<string> {
  return ensureProgram(csiSanity(options.env ?? process.env), options)
}

function csiSanity(env: NodeJS.ProcessEnv): GoProgram {
  return {
    path: join(cacheFolder(env), `csi-sanity-${process.platform}-${process.arch}`),
    sources: inFolder(moduleFolder, ['go.mod', 'go.sum', 'tools.go']),
    moduleFolder,
    package: 'github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity',
  }
}
