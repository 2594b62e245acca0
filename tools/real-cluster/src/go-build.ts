/** Runs the installed Go toolchain: compiles the control plane and locates module sources. */
import { execFile, spawn } from 'node:child_process'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BinaryName } from './binaries.ts'
import { BuildFailedError, GoMissingError } from './errors.ts'

/** The progress of a build. */
export interface BuildProgress {
  /** `waiting` for another process that builds, `loading` modules, `compiling` and linking packages. */
  readonly phase: 'waiting' | 'loading' | 'compiling' | 'done'
  /** Steps done. Packages in Go's own build cache are skipped silently, so this may end below `total`. */
  readonly done: number
  /** Steps in this phase, 0 while unknown. */
  readonly total: number
  /** The current step, such as a package; at the end the folder with the executables. */
  readonly detail: string
}

export interface GoBuildOptions {
  readonly moduleFolder: string
  readonly outputFolder: string
  readonly names: readonly BinaryName[]
  /** Kubernetes version to embed in the executables: `/version` reports it. */
  readonly version: string
  readonly env: NodeJS.ProcessEnv
  readonly onProgress?: (progress: BuildProgress) => void
  readonly signal?: AbortSignal
}

const PACKAGES: Readonly<Record<BinaryName, string>> = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
}

/** `go build` names an executable after the last element of its package path. */
const BUILT_NAME: Readonly<Record<BinaryName, string>> = {
  etcd: 'server',
  'kube-apiserver': 'kube-apiserver',
  'kube-controller-manager': 'kube-controller-manager',
}

/**
 * Builds `names` into `outputFolder`.
 *
 * Errors: `GoMissingError`, `BuildFailedError` with the end of the compiler's output.
 */
export async function buildWithGo(options: GoBuildOptions): Promise<void> {
  const { moduleFolder, outputFolder, names, version, onProgress, signal } = options
  // The versions are pinned by go.sum alone: a workspace or vendor folder of the user must not be used.
  const env = { ...options.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' }
  const packages = names.map((name) => PACKAGES[name])
  await mkdir(outputFolder, { recursive: true })

  let total = 0
  let fetched = 0
  await go(['list', '-mod=readonly', '-deps', ...packages], {
    onOutput: () => {
      total += 1
    },
    onMessage: (line) => {
      fetched += 1
      onProgress?.({ phase: 'loading', done: fetched, total: 0, detail: line.replace(/^go: downloading /, '') })
    },
  })

  let compiled = 0
  await go(
    ['build', '-v', '-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', linkerFlags(version)].concat(
      ['-o', `${outputFolder}/`],
      packages,
    ),
    {
      onMessage: (line) => {
        compiled += 1
        onProgress?.({ phase: 'compiling', done: Math.min(compiled, total), total, detail: line })
      },
    },
  )
  for (const name of names) {
    if (BUILT_NAME[name] !== name) await rename(join(outputFolder, BUILT_NAME[name]), join(outputFolder, name))
  }

  function go(
    args: readonly string[],
    on: { readonly onOutput?: (line: string) => void; readonly onMessage?: (line: string) => void },
  ): Promise<void> {
    return runGo(args, { cwd: moduleFolder, env, signal, ...on })
  }
}

/**
 * Linker flags that embed the Kubernetes version. Debug information is left out: it doubles the size and is not needed
 * here.
 */
export function linkerFlags(version: string): string {
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.')
  const values = {
    gitVersion: version,
    gitMajor: major,
    gitMinor: minor,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
  }
  const stamps = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((variablePackage) =>
    Object.entries(values).map(([variable, value]) => `-X ${variablePackage}.${variable}=${value}`),
  )
  return ['-s', '-w', ...stamps].join(' ')
}

/** How to run the Go command; its output is reported line by line as it arrives. */
export interface GoRun {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly signal?: AbortSignal
  readonly onOutput?: (line: string) => void
  readonly onMessage?: (line: string) => void
}

const KEPT_MESSAGES = 30

/** Runs the Go command. Errors: `GoMissingError`, `BuildFailedError` with the end of its output. */
export async function runGo(args: readonly string[], run: GoRun): Promise<void> {
  const child = spawn('go', args, {
    cwd: run.cwd,
    env: run.env,
    signal: run.signal,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const messages: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => run.onOutput?.(line))
  createInterface({ input: child.stderr }).on('line', (line) => {
    messages.push(line)
    if (messages.length > KEPT_MESSAGES) messages.shift()
    run.onMessage?.(line)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => {
      reject('code' in error && error.code === 'ENOENT' ? new GoMissingError({ cause: error }) : error)
    })
    child.once('close', resolve)
  })
  if (code !== 0) throw new BuildFailedError(`go ${args[0]}`, messages.join('\n'))
}

/** Whether a Go toolchain is on the path. */
export async function hasGo(env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  try {
    await runGo(['version'], { cwd: process.cwd(), env })
    return true
  } catch (error) {
    if (error instanceof GoMissingError) return false
    throw error
  }
}

const execFileAsync = promisify(execFile)
const realClusterFolder = fileURLToPath(new URL('..', import.meta.url))

/**
 * Folder of a module that `go.mod` pins, downloaded first if necessary. Generators read data files from it.
 *
 * Errors: `GoMissingError`, `BuildFailedError`.
 */
export async function goModuleFolder(modulePath: string): Promise<string> {
  const options = { cwd: realClusterFolder, env: { ...process.env, GOWORK: 'off', GOFLAGS: '' } }
  try {
    await execFileAsync('go', ['mod', 'download', modulePath], options)
    return (await execFileAsync('go', ['list', '-m', '-f', '{{.Dir}}', modulePath], options)).stdout.trim()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if ('code' in error && error.code === 'ENOENT') throw new GoMissingError({ cause: error })
    throw new BuildFailedError(`go mod download ${modulePath}`, error.message, { cause: error })
  }
}
