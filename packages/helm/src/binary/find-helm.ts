/** Finds a helm that this package can drive. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { HelmMissingError, HelmUnsupportedError } from '../errors.ts'
import type { RunProcess } from '../process/process-runner.ts'
import { runProcess as startProcess } from '../process/run-process.ts'
import type { HelmBinary } from './helm-binary.ts'

/** Printing a version takes 50 ms; on a machine that is short of everything, seconds. */
const VERSION_TIMEOUT_MS = 30_000

/** The first 3.x with labels on releases and `--dry-run=server`. */
const OLDEST_MINOR_OF_3 = 13

/** Where to search for helm. */
export interface FindHelmOptions {
  /** `HELM_BIN` and `PATH` are read from here. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Used when neither `HELM_BIN` nor `PATH` has one, for tests and demos. */
  readonly fallbackPath?: string
  readonly runProcess?: RunProcess
  readonly signal?: AbortSignal
}

/**
 * The helm to use: the one that `HELM_BIN` names, the first in `PATH`, or `fallbackPath`.
 *
 * *Errors*: `HelmMissingError`; `HelmUnsupportedError` when it is neither 3.13 or newer of 3.x, nor 4.x.
 *
 * @example
 * const binary = await findHelm()
 */
export async function findHelm(options: FindHelmOptions = {}): Promise<HelmBinary> {
  const { env = process.env, runProcess = startProcess, signal } = options
  const path = await locate(env, options.fallbackPath)
  const outcome = await runProcess({
    command: path,
    args: ['version', '--template', '{{.Version}}'],
    env: { HOME: tmpdir() },
    cwd: tmpdir(),
    timeoutMs: VERSION_TIMEOUT_MS,
    killGraceMs: 0,
    maxOutputBytes: 4_096,
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    throw new HelmMissingError(`${path} cannot be run: name a helm in HELM_BIN`, { cause: error })
  })
  signal?.throwIfAborted()
  if (outcome.exitCode !== 0)
    throw new HelmMissingError(`${path} does not print its version: set HELM_BIN to a helm binary`)
  return { path, ...parseVersion(outcome.stdout.trim(), path) }
}

function parseVersion(text: string, path: string): Pick<HelmBinary, 'version' | 'major'> {
  // A helm that was built by `go install` does not know its patch level.
  const match = /^v?(\d{1,4})\.(\d{1,4})(?:\.\d[\w.+-]{0,64})?$/.exec(text)
  if (match === null) throw new HelmUnsupportedError(path, 'of an unknown version')
  const version = text.replace(/^v/, '')
  const [major, minor] = [Number(match[1]), Number(match[2])]
  if (major === 4) return { version, major: 4 }
  if (major === 3 && minor >= OLDEST_MINOR_OF_3) return { version, major: 3 }
  throw new HelmUnsupportedError(path, version)
}

async function locate(env: Readonly<Record<string, string | undefined>>, fallback?: string): Promise<string> {
  const chosen = env.HELM_BIN
  if (chosen !== undefined && chosen !== '') {
    if (await isExecutable(chosen)) return chosen
    throw new HelmMissingError(`HELM_BIN=${chosen} cannot be run: name an executable file`)
  }
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const candidate of [...folders.map((folder) => join(folder, 'helm')), ...(fallback ? [fallback] : [])]) {
    if (await isExecutable(candidate)) return candidate
  }
  throw new HelmMissingError('no helm was found: install it, add it to PATH, or name it in HELM_BIN')
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
