/** Go programs of this package, each built into the cache on first use and found there from then on. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { withBuildLock } from './build-lock.ts'
import { runGo } from './go-build.ts'

/** A program and where it comes from. */
export interface GoProgram {
  /** The executable, whose name the sources become part of. */
  readonly path: string
  /** Everything that decides what is built. */
  readonly sources: readonly string[]
  readonly moduleFolder: string
  /** As `go build` takes it. */
  readonly package: string
}

/** How a program is built. */
export interface GoProgramOptions {
  /** Environment to find the cache and Go with. @default process.env */
  readonly env?: NodeJS.ProcessEnv
  /** Stops a build. */
  readonly signal?: AbortSignal
}

/** The executable if it has been built from the sources as they are; `undefined` otherwise. */
export async function findProgram(program: GoProgram): Promise<string | undefined> {
  const path = await executablePath(program)
  try {
    await access(path, constants.X_OK)
    return path
  } catch {
    // Not built yet, or from other sources.
    return undefined
  }
}

/**
 * The executable, built first if need be.
 *
 * *Guarantees*: half an executable is never found; processes that ask at the same time build once.
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
      // The same flags as for the control plane: Go then finds what both need in its own build cache.
      await runGo(
        ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', '-s -w', '-o', partial, program.package],
        { cwd: program.moduleFolder, env: { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' }, signal },
      )
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

/** The files of a folder by their names, in a fixed order. */
export const inFolder = (folder: string, names: readonly string[]): readonly string[] =>
  names.toSorted().map((name) => join(folder, name))
