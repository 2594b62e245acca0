/** Where Go keeps the source of the pinned modules. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { BuildFailedError, GoMissingError } from './errors.ts'

const run = promisify(execFile)
const moduleFolder = fileURLToPath(new URL('..', import.meta.url))

/**
 * Folder of a module that `go.mod` pins, fetched first if need be. Generators read data files from it.
 *
 * Errors: `GoMissingError`, `BuildFailedError`.
 */
export async function goModuleFolder(modulePath: string): Promise<string> {
  const options = { cwd: moduleFolder, env: { ...process.env, GOWORK: 'off', GOFLAGS: '' } }
  try {
    await run('go', ['mod', 'download', modulePath], options)
    return (await run('go', ['list', '-m', '-f', '{{.Dir}}', modulePath], options)).stdout.trim()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if ('code' in error && error.code === 'ENOENT') throw new GoMissingError({ cause: error })
    throw new BuildFailedError(`go mod download ${modulePath}`, error.message, { cause: error })
  }
}
