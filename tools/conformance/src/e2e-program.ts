/** Builds `e2e.test`, Kubernetes' own end-to-end tests, see `e2e/go.mod`. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  cacheFolder,
  ensureProgram,
  findProgram,
  type GoProgram,
  type GoProgramOptions,
  inFolder,
  linkerFlags,
  pinnedKubernetesVersion,
} from '@reeve/real-cluster'

const moduleFolder = fileURLToPath(new URL('../e2e', import.meta.url))

/** The program if it has been built from the pinned version; `undefined` otherwise. */
export async function findE2e(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  return findProgram(await e2e(env))
}

/**
 * The program, built first if necessary: about 15 minutes on two cores.
 *
 * *Errors*: `GoMissingError`, `BuildFailedError`.
 */
export async function ensureE2e(options: GoProgramOptions = {}): Promise<string> {
  return ensureProgram(await e2e(options.env ?? process.env), options)
}

async function e2e(env: NodeJS.ProcessEnv): Promise<GoProgram> {
  return {
    path: join(cacheFolder(env), `e2e.test-${process.platform}-${process.arch}`),
    sources: inFolder(moduleFolder, ['go.mod', 'go.sum', 'tools.go']),
    moduleFolder,
    package: 'k8s.io/kubernetes/test/e2e',
    linkerFlags: linkerFlags(await pinnedKubernetesVersion()),
    isTest: true,
  }
}
