/** Builds the OpenTelemetry collector that validates generated configurations, see `otel-collector`. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from './binaries.ts'
import { ensureProgram, findProgram, type GoProgram, type GoProgramOptions, inFolder } from './go-program.ts'

const moduleFolder = fileURLToPath(new URL('../otel-collector', import.meta.url))

/** The collector if it has been built from the current sources; `undefined` otherwise. */
export function findOtelCollector(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  return findProgram(otelCollector(env))
}

/**
 * The collector, built first if necessary, which takes about four minutes on two cores.
 *
 * *Errors*: `GoMissingError`, `BuildFailedError`.
 *
 * @example
 * const collector = await ensureOtelCollector()
 */
export function ensureOtelCollector(options: GoProgramOptions = {}): Promise<string> {
  return ensureProgram(otelCollector(options.env ?? process.env), options)
}

function otelCollector(env: NodeJS.ProcessEnv): GoProgram {
  return {
    path: join(cacheFolder(env), `otel-collector-${process.platform}-${process.arch}`),
    sources: inFolder(moduleFolder, ['go.mod', 'go.sum', 'main.go']),
    moduleFolder,
    package: '.',
  }
}
