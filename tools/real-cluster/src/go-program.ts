/** Go programs of this package, each built into the cache on first use and reused from there. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { withBuildLock } from './build-lock.ts'
import { type BuildProgress, type GoRun, runGo } from './go-build.ts'

/** A program and its sources. */
export interface GoProgram {
  /** The executable; a hash of the sources is added to its name. */
  readonly path: string
  /** Every file that affects the build. */
  readonly sources: readonly string[]
  readonly moduleFolder: string
  /** The package argument of `go build`. */
  readonly package: string
  /** @default '-s -w', without debug information */
  readonly linkerFlags?: string
  /** Build tags, separated by commas. @default none */
  readonly tags?: string
  /** Whether to build the tests of the package instead. @default false */
  readonly isTest?: boolean
}

/** Build options. */
export interface GoProgramOptions {
  /** Environment variables that locate the cache and Go. @default process.env */
  readonly env?: NodeJS.ProcessEnv
  /** Called while the program is built; never called if it exists already. */
  readonly onProgress?: (progress: BuildProgress) => void
  /** Aborts a build. */
  readonly signal?: AbortSignal
}

/** The executable if it has been built from the current sources; `undefined` otherwise. */
export async function findProgram(program: GoProgram): Promise<string | undefined> {
  const path = await executablePath(program)
  try {
    await access(path, constants.X_OK)
    return path
  } catch {
    // Not built yet, or built from other sources.
    return undefined
  }
}

/**
 * The executable, built first if necessary.
 *
 * *Guarantees*: an incomplete executable is never returned; concurrent processes build only once.
 *
 * *Errors*: `GoMissingError`, `BuildFailedError`.
 */
export async function ensureProgram(program: GoProgram, options: GoProgramOptions = {}): Promise<string> {
  const { env = process.env, onProgress, signal } = options
  const path = await executablePath(program)
  await mkdir(dirname(path), { recursive: true })
  return withBuildLock(
    `${path}.lock`,
    async () => {
      if ((await findProgram(program)) !== undefined) return path
      const partial = `${path}.partial`
      // The same flags as for the control plane, so that both share Go's build cache.
      const flags = ['-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', program.linkerFlags ?? '-s -w']
      const tags = program.tags === undefined ? [] : ['-tags', program.tags]
      const run: GoRun = {
        cwd: program.moduleFolder,
        env: { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' },
        signal,
      }
      const observed =
        onProgress === undefined ? run : await observeBuild(program, run, [...flags, ...tags], onProgress)
      await runGo(
        [...buildCommand(program, observed !== run), ...flags, ...tags, '-o', partial, program.package],
        observed,
      )
      await rename(partial, path)
      onProgress?.({ phase: 'done', done: 0, total: 0, detail: path })
      return path
    },
    {
      onWaiting: () => onProgress?.({ phase: 'waiting', done: 0, total: 0, detail: 'another process is building' }),
      signal,
    },
  )
}

/** What the test imports from its own module. */
async function testImports(program: GoProgram, run: GoRun): Promise<readonly string[]> {
  const imports: string[] = []
  const template = '{{range .TestImports}}{{println .}}{{end}}'
  await runGo(['list', '-mod=readonly', '-f', template, program.package], {
    ...run,
    onOutput: (line) => imports.push(line),
  })
  const [host = '', repository = ''] = program.package.split('/')
  return imports.filter((name) => name.startsWith(`${host}/${repository}/`))
}

/** Tests are compiled without the checks of `go vet`, which take as long again. */
function buildCommand({ isTest = false }: GoProgram, isObserved: boolean): readonly string[] {
  if (isTest) return ['test', '-c', '-vet=off']
  return isObserved ? ['build', '-v'] : ['build']
}

/**
 * Counts the packages first, and then each one that Go starts to compile. Go does not report the packages of a test, so
 * these are compiled before.
 */
async function observeBuild(
  program: GoProgram,
  run: GoRun,
  flags: readonly string[],
  onProgress: (progress: BuildProgress) => void,
): Promise<GoRun> {
  let fetched = 0
  let total = 0
  await runGo(['list', '-mod=readonly', '-deps', ...(program.isTest === true ? ['-test'] : []), program.package], {
    ...run,
    onOutput: () => {
      total += 1
    },
    onMessage: (line) => {
      fetched += 1
      onProgress({ phase: 'loading', done: fetched, total: 0, detail: line.replace(/^go: downloading /, '') })
    },
  })
  let done = 0
  const observed: GoRun = {
    ...run,
    onMessage: (line) => {
      done += 1
      onProgress({ phase: 'compiling', done: Math.min(done, total), total, detail: line })
    },
  }
  if (program.isTest === true) await runGo(['build', '-v', ...flags, ...(await testImports(program, run))], observed)
  return observed
}

async function executablePath({ path, sources }: GoProgram): Promise<string> {
  const hash = createHash('sha256')
  for (const source of sources) hash.update(await readFile(source))
  return `${path}-${hash.digest('hex').slice(0, 12)}`
}

/** The files of a folder, sorted by name. */
export const inFolder = (folder: string, names: readonly string[]): readonly string[] =>
  names.toSorted().map((name) => join(folder, name))
