/** Go programs of this package, each built into the cache on first use and reused from there. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { withBuildLock } from './build-lock.ts'
import { runGo } from './go-build.ts'

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
}

/** Build options. */
export interface GoProgramOptions {
  /** Environment variables that locate the cache and Go. @default process.env */
  readonly env?: NodeJS.ProcessEnv
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
  const { env = process.env, signal } = options
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
      await runGo(['build', ...flags, ...tags, '-o', partial, program.package], {
        cwd: program.moduleFolder,
        env: { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' },
        signal,
      })
      await rename(partial, path)
      return path
    },
    { signal },
  )
}

async function executablePath({ path, sources }: GoProgram): Promise<string> {
  const hash = createHash('sha256')
  for (const source of sources) hash.update(await readFile(source))
  return `${path}-${hash.digest('hex').slice(0, 12)}`
}

/** The files of a folder, sorted by name. */
export const inFolder = (folder: string, names: readonly string[]): readonly string[] =>
  names.toSorted().map((name) => join(folder, name))
