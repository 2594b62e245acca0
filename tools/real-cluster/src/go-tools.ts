/** Programs of other projects that suites run, each pinned by a Go module in a folder of this package. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from './binaries.ts'
import { ensureProgram, findProgram, type GoProgram, type GoProgramOptions, inFolder } from './go-program.ts'

/** A program that is built when it is first needed. */
export interface GoTool {
  readonly name: string
  /** The program if it has been built from the current sources; `undefined` otherwise. */
  find(env?: NodeJS.ProcessEnv): Promise<string | undefined>
  /**
   * The program, built first if necessary, which takes about a minute on two cores.
   *
   * *Errors*: `GoMissingError`, `BuildFailedError`.
   */
  ensure(options?: GoProgramOptions): Promise<string>
}

/** Checks and tests alerting rules. Without the service discoveries of Prometheus, which are most of what is compiled. */
export const promtool = goTool('promtool', 'github.com/prometheus/prometheus/cmd/promtool', 'remove_all_sd')

/** Checks workflows of GitHub. */
export const actionlint = goTool('actionlint', 'github.com/rhysd/actionlint/cmd/actionlint')

/** The folder of its module is named after the tool. */
function goTool(name: string, packagePath: string, tags?: string): GoTool {
  const moduleFolder = fileURLToPath(new URL(`../${name}`, import.meta.url))
  const program = (env: NodeJS.ProcessEnv): GoProgram => ({
    path: join(cacheFolder(env), `${name}-${process.platform}-${process.arch}`),
    sources: inFolder(moduleFolder, ['go.mod', 'go.sum']),
    moduleFolder,
    package: packagePath,
    ...(tags !== undefined && { tags }),
  })
  return {
    name,
    find: (env = process.env) => findProgram(program(env)),
    ensure: (options = {}) => ensureProgram(program(options.env ?? process.env), options),
  }
}
