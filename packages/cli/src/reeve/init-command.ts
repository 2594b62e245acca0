/** `reeve init`: writes the project of a new operator, and asks for what the options do not say. */
import { resolve } from 'node:path'
import { EXIT, type Subcommand } from '../subcommand.ts'
import { FolderNotEmptyError, projectFiles, writeProject } from './project-files.ts'
import { ProjectNameError } from './project-names.ts'
import { askOn, type ProjectOptions, readProject } from './project-questions.ts'

/** The parsed options. */
interface InitOptions extends ProjectOptions {
  /** The folder. */
  readonly args: readonly string[]
}

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
    using terminal = process.stdin.isTTY ? askOn(process.stdin, process.stderr) : undefined
    try {
      const { hasWebhooks, ...names } = await readProject(options, terminal?.ask)
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
    }
  },
}
