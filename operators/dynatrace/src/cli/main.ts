/** The frame of the command line: finds the subcommand, loads that one only, and turns failures into exit codes. */
import { text } from 'node:stream/consumers'
import { Command, CommanderError, Option } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { type CommandContext, EXIT, type SubcommandEntry } from './subcommand.ts'
import { SUBCOMMANDS } from './subcommands.ts'

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** The part of the process that is used; tests put another in its place. */
export type ProcessParts = Omit<CommandContext, 'logger'>

const EPILOGUE = `
Examples:
  dynatrace-operator validate -f dynakube.yaml               what the webhook would say, without a cluster
  dynatrace-operator convert -f dynakube.yaml --to v1beta6   the same resource in the newest version
  dynatrace-operator help validate                           options and examples of a command

Exit codes:
  0   done
  1   failed, or something was refused
  2   plan only: there are changes to make
  64  the command line was wrong`

/**
 * Runs a command line and answers with the exit code of the process.
 *
 * @example
 * process.exitCode = await main(process.argv)
 */
export async function main(
  argv: readonly string[],
  parts: ProcessParts = ownProcess(),
  subcommands: readonly SubcommandEntry[] = SUBCOMMANDS,
): Promise<number> {
  const args = argv.slice(2)
  const { stdout, stderr } = parts
  let code: number = EXIT.done
  const program = new Command('dynatrace-operator')
    .description('Observes Kubernetes clusters with Dynatrace, as DynaKubes and EdgeConnects say.')
    .version(manifest.version)
    .exitOverride()
    .configureOutput({
      writeOut: (line) => stdout.write(line),
      writeErr: (line) => stderr.write(line),
      getOutHasColors: () => stdout.isTTY ?? false,
      getErrHasColors: () => stderr.isTTY ?? false,
    })
    .showHelpAfterError('(dynatrace-operator --help shows what there is)')
    .addHelpText('after', EPILOGUE)
  const wanted = wantedName(args)
  for (const { name, summary, load } of subcommands) {
    const command = program.command(name).description(summary)
    if (name !== wanted) continue
    const { command: subcommand } = await load()
    subcommand.configure(command)
    command.addOption(logLevelOption(parts.env)).action(async () => {
      const { logLevel, ...options } = command.opts()
      // What commander read by the options that `configure` declared.
      code = await subcommand.run(options as never, { ...parts, logger: () => jsonLogger(logLevel, stderr) })
    })
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    stderr.write(`dynatrace-operator: ${error instanceof Error ? error.message : String(error)}\n`)
    return EXIT.failed
  }
  return code
}

/** The program itself has no options with values, so that the first word is the name of the subcommand. */
function wantedName(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'))
  return first === 'help' ? second : first
}

/** An unknown level in the environment is read as info: the chart of another release may set it. */
function logLevelOption({ LOG_LEVEL }: ProcessParts['env']): Option {
  const level = LOG_LEVELS.find((known) => known === LOG_LEVEL) ?? 'info'
  return new Option('--log-level <level>', 'least level of the JSON log on standard error (env: LOG_LEVEL)')
    .choices([...LOG_LEVELS])
    .default(level)
}

async function jsonLogger(level: (typeof LOG_LEVELS)[number], destination: ProcessParts['stderr']) {
  const { createLogger } = await import('@reeve/runtime')
  return createLogger({ level, destination: { write: (line) => void destination.write(line) } })
}

function ownProcess(): ProcessParts {
  const { env, stdin, stdout, stderr } = process
  return { env, readStdin: () => text(stdin), stdout, stderr }
}
