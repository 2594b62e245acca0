/** Finds the executables of the control plane: provided, built before, or built now. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withBuildLock } from './build-lock.ts'
import { AssetsIncompleteError } from './errors.ts'
import { type BuildProgress, buildWithGo } from './go-build.ts'

/** The executables of a control plane. */
export type BinaryName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager'

/** Absolute paths of the executables. */
export type Binaries = Readonly<Record<BinaryName, string>>

export interface BinariesOptions {
  /**
   * Environment variables to read `KUBEBUILDER_ASSETS`, `REEVE_REAL_CLUSTER_CACHE` and `XDG_CACHE_HOME` from.
   * @default process.env
   */
  readonly env?: NodeJS.ProcessEnv
  /** Called while executables are built; never called when they exist already. */
  readonly onProgress?: (progress: BuildProgress) => void
  /** Aborts a build. */
  readonly signal?: AbortSignal
}

const NAMES: readonly BinaryName[] = ['etcd', 'kube-apiserver', 'kube-controller-manager']

/** Change this whenever `go-build.ts` builds differently from the same sources. */
const BUILD_RECIPE = '1'

const moduleFolder = fileURLToPath(new URL('..', import.meta.url))

/** The Kubernetes version that `go.mod` pins, such as `v1.35.8`. */
export async function pinnedKubernetesVersion(): Promise<string> {
  const goMod = await readFile(join(moduleFolder, 'go.mod'), 'utf8')
  const version = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(goMod)?.[1]
  if (version === undefined) throw new Error('tools/real-cluster/go.mod does not require k8s.io/kubernetes')
  return version
}

/** The folder for everything that is built. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const { REEVE_REAL_CLUSTER_CACHE: given, XDG_CACHE_HOME: caches } = env
  return given || join(caches || join(homedir(), '.cache'), 'reeve', 'real-cluster')
}

/**
 * The folder of the built executables: outside the repository, one per Kubernetes version, platform and content of
 * `go.mod` and `go.sum`, so that a changed pin never runs an old binary.
 */
export async function binariesFolder(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const hash = createHash('sha256').update(BUILD_RECIPE)
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(moduleFolder, file)))
  const key = hash.digest('hex').slice(0, 12)
  return join(cacheFolder(env), `${await pinnedKubernetesVersion()}-${process.platform}-${process.arch}-${key}`)
}

/**
 * The executables that exist without building, or `undefined`.
 *
 * Assumptions: `KUBEBUILDER_ASSETS` has the meaning it has for envtest: its etcd and kube-apiserver are used. Folders
 * made for envtest have no kube-controller-manager; then the one in the cache is used.
 *
 * Errors: `AssetsIncompleteError` when `KUBEBUILDER_ASSETS` is set and lacks etcd or kube-apiserver: silently testing
 * another version than the requested one would be worse.
 */
export async function findBinaries(env: NodeJS.ProcessEnv = process.env): Promise<Binaries | undefined> {
  const { found, missing } = await locate(env)
  // `locate` has found every name that is not missing.
  return missing.length === 0 ? (found as Binaries) : undefined
}

/**
 * The executables; missing ones are built first. The first build takes minutes, every later call milliseconds.
 *
 * Guarantees: a folder never contains an incomplete binary (they are moved in when complete); concurrent processes
 * build only once.
 *
 * Errors: `AssetsIncompleteError`, `GoMissingError`, `BuildFailedError`.
 */
export async function ensureBinaries(options: BinariesOptions = {}): Promise<Binaries> {
  const { env = process.env, onProgress, signal } = options
  const ready = await findBinaries(env)
  if (ready !== undefined) return ready

  const folder = await binariesFolder(env)
  await mkdir(folder, { recursive: true })
  const waiting = () => onProgress?.({ phase: 'waiting', done: 0, total: 0, detail: 'another process is building' })
  return withBuildLock(
    join(folder, 'build.lock'),
    async () => {
      const { found, missing } = await locate(env)
      const staging = join(folder, `building-${process.pid}`)
      try {
        if (missing.length > 0) {
          const version = await pinnedKubernetesVersion()
          await buildWithGo({ moduleFolder, outputFolder: staging, names: missing, version, env, onProgress, signal })
        }
        for (const name of missing) {
          found[name] = join(folder, name)
          await rename(join(staging, name), found[name])
        }
        onProgress?.({ phase: 'done', done: 0, total: 0, detail: folder })
      } finally {
        await rm(staging, { recursive: true, force: true })
      }
      // Every missing name has just been added.
      return found as Binaries
    },
    { onWaiting: waiting, signal },
  )
}

async function locate(
  env: NodeJS.ProcessEnv,
): Promise<{ found: Partial<Record<BinaryName, string>>; missing: BinaryName[] }> {
  const found: Partial<Record<BinaryName, string>> = {}
  const assets = env.KUBEBUILDER_ASSETS
  if (assets) {
    for (const name of NAMES) {
      if (await isExecutable(join(assets, name))) found[name] = join(assets, name)
    }
    const needed = (['etcd', 'kube-apiserver'] as const).filter((name) => found[name] === undefined)
    if (needed.length > 0) throw new AssetsIncompleteError(assets, needed)
  }
  const folder = await binariesFolder(env)
  for (const name of NAMES) {
    if (found[name] === undefined && (await isExecutable(join(folder, name)))) found[name] = join(folder, name)
  }
  return { found, missing: NAMES.filter((name) => found[name] === undefined) }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    // Missing or not executable: it has to be built.
    return false
  }
}
