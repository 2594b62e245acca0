/** `reeve crd` and `reeve rbac`: load the operator of a project, and run the command that follows from it. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CommandedOperator, operatorCommands } from '../operator-commands.ts'
import type { Subcommand } from '../subcommand.ts'

interface Options {
  readonly module?: string
}

/**
 * The subcommand of operators with this name, for the operator of the current folder.
 *
 * @example
 * const command = await operatorCommand('crd')
 */
export async function operatorCommand(name: 'crd' | 'rbac'): Promise<Subcommand<never>> {
  let module: string | undefined
  const load = () => loadOperator(process.cwd(), module)
  // What follows from the operator's name is known when it is loaded; until then it is called by its role.
  const entry = operatorCommands('reeve', load).find((one) => one.name === name)
  if (entry === undefined) throw new Error(`operators have no command "${name}"`)
  const { command } = await entry.load()
  return {
    configure: (cli) =>
      command.configure(
        cli.option(
          '--module <path>',
          'the module that exports the operator (default: reeve.operator in the package.json of this folder)',
        ),
      ),
    run: (options: Options, context) => {
      module = options.module
      // Parsed by the same options that `configure` declared.
      return command.run(options as never, context)
    },
  } as Subcommand<never>
}

/** The operator that a module exports, under whatever name. */
async function loadOperator(folder: string, module: string | undefined): Promise<CommandedOperator> {
  const path = module === undefined ? await declaredModule(folder) : resolve(folder, module)
  const loaded: Record<string, unknown> = await import(pathToFileURL(path).href)
  const operators = Object.values(loaded).filter(isOperator)
  const [operator] = operators
  if (operator === undefined) throw new Error(`${path} exports no operator: export the result of defineOperator`)
  if (operators.length > 1) throw new Error(`${path} exports ${operators.length} operators: export one`)
  return operator
}

async function declaredModule(folder: string): Promise<string> {
  const file = join(folder, 'package.json')
  const manifest = await readFile(file, 'utf8').then(JSON.parse, () => undefined)
  const declared: unknown = manifest?.reeve?.operator
  if (typeof declared !== 'string') {
    throw new Error(`${file} does not say which module exports the operator: set reeve.operator there, or use --module`)
  }
  return resolve(folder, declared)
}

function isOperator(value: unknown): value is CommandedOperator {
  return ['crds', 'rbac', 'describe', 'create'].every(
    (member) => typeof (value as Record<string, unknown> | null | undefined)?.[member] === 'function',
  )
}
