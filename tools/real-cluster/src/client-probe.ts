/** Builds the Go program that uses a cluster through client-go, see `cmd/client-probe`. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { binariesFolder } from './binaries.ts'
import { withBuildLock } from './build-lock.ts'
import { runGo } from './go-build.ts'

const moduleFolder = fileURLToPath(new URL('..', import.meta.url))
const sourceFolder = join(moduleFolder, 'cmd', 'client-probe')

/** Options of {@link ensureClientProbe}. */
export interface ClientProbeOptions {
  /** Environment to find the cache and Go with. @default process.env */
  readonly env?: NodeJS.ProcessEnv
  /** Stops a build. */
  readonly signal?: AbortSignal
}

/** The program if it has been built from the sources as they are; `undefined` otherwise. */
export async function findClientProbe(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  const path = await probePath(env)
  try {
    await access(path, constants.X_OK)
    return path
  } catch {
    // Not built yet, or from other sources.
    return undefined
  }
}

/**
 * The program, built first if need be: seconds once the control plane has been built, minutes on a fresh machine.
 *
 * Errors: `GoMissingError`, `BuildFailedError`.
 *
 * @example
 * const probe = await ensureClientProbe()
 */
export async function ensureClientProbe(options: ClientProbeOptions = {}): Promise<string> {
  const { env = process.env, signal } = options
  const path = await probePath(env)
  await mkdir(await binariesFolder(env), { recursive: true })
  return withBuildLock(
    `${path}.lock`,
    async () => {
      if ((await findClientProbe(env)) !== undefined) return path
      // The same flags as for the control plane: Go then finds client-go in its own build cache.
      const partial = `${path}.partial`
      await runGo(
        [
          'build',
          '-mod=readonly',
          '-buildvcs=false',
          '-trimpath',
          '-ldflags',
          '-s -w',
          '-o',
          partial,
          './cmd/client-probe',
        ],
        { cwd: moduleFolder, env: { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' }, signal },
      )
      await rename(partial, path)
      return path
    },
    { signal },
  )
}

async function probePath(env: NodeJS.ProcessEnv): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await readdir(sourceFolder)).sort()) hash.update(await readFile(join(sourceFolder, name)))
  return join(await binariesFolder(env), `client-probe-${hash.digest('hex').slice(0, 12)}`)
}
