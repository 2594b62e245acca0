/** `reeve init`: writes the project of a new operator, and asks for what the options do not say. */
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { EXIT, type Subcommand } from '../subcommand.ts'
import { FolderNotEmptyError, projectFiles, writeProject } from './project-files.ts'
import {
  checkGroup,
  checkKind,
  checkName,
  checkPlural,
  nameOf,
  ProjectNameError,
  type ProjectNames,
  pluralOf,
} from './project-names.ts'

/** The parsed options. */
interface InitOptions {
  readonly group?: string
  readonly kind?: string
  readonly plural?: string
  readonly name?: string
  readonly webhooks?: boolean
  /** The folder. */
  readonly args: readonly string[]
}

/** Asks one question; `undefined` where there is nobody to ask. */
type Ask = ((question: string, suggestion?: string) => Promise<string>) | undefined

/** The subcommand. */
export const command: Subcommand<InitOptions> = {
  configure: (cli) =>
    void cli
      .argument('[folder]', 'where to write it (default: a folder with the name of the operator)')
      .option('--group <domain>', 'API group of the resource, such as shop.example.com')
      .option('--kind <Kind>', 'kind of the resource, such as Shop')
      .option('--plural <word>', 'the resource in URLs (default: the plural of the kind)')
      .option('--name <name>', 'name of the operator (default: the kind, and "-operator")')
      .option('--webhooks', 'with an admission webhook')
      .option('--no-webhooks', 'without webhooks (default, unless you are asked)')
      .addHelpText(
        'after',
        `
Asks for what is missing when started from a terminal. Never overwrites anything.

Examples:
  reeve init
  reeve init --group shop.example.com --kind Shop
  reeve init --group shop.example.com --kind Shop --name shops --webhooks ./operators/shops`,
      ),
  run: async (options, { stdout, stderr }) => {
    const terminal = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stderr }) : undefined
    const ask: Ask =
      terminal &&
      (async (question, suggestion) => {
        const given = await terminal.question(
          suggestion === undefined ? `${question}: ` : `${question} (${suggestion}): `,
        )
        return given.trim() || (suggestion ?? '')
      })
    try {
      const names = await readNames(options, ask)
      const hasWebhooks = options.webhooks ?? (await ask?.('Webhooks, yes or no', 'no'))?.startsWith('y') ?? false
      const folder = options.args[0] ?? names.name
      await writeProject(resolve(folder), await projectFiles(names, { hasWebhooks }))
      stdout.write(`created ${folder}\n\n  cd ${folder}\n  npm install\n  npm test\n  npm start\n`)
      return EXIT.done
    } catch (error) {
      if (error instanceof ProjectNameError || error instanceof FolderNotEmptyError) {
        stderr.write(`reeve init: ${error.message}\n`)
        return EXIT.usage
      }
      throw error
    } finally {
      terminal?.close()
    }
  },
}

async function readNames({ group, kind, plural, name }: InitOptions, ask: Ask): Promise<ProjectNames> {
  const missing = [...(group === undefined ? ['--group'] : []), ...(kind === undefined ? ['--kind'] : [])]
  if (ask === undefined && missing.length > 0) {
    throw new ProjectNameError(`${missing.join(' and ')} missing: for example --group shop.example.com --kind Shop`)
  }
  const theGroup = checkGroup(group ?? (await ask?.('API group, such as shop.example.com')) ?? '')
  const theKind = checkKind(kind ?? (await ask?.('Kind, such as Shop')) ?? '')
  const asked = name ?? (await ask?.('Name of the operator', nameOf(theKind)))
  return {
    group: theGroup,
    kind: theKind,
    plural: checkPlural(plural ?? pluralOf(theKind)),
    name: checkName(asked ?? nameOf(theKind)),
  }
}
