/** The frame of a command line: finds the subcommand, loads that one only, and turns failures into exit codes. */
import { constants } from 'node:os'
import { text } from 'node:stream/consumers'
import type { LoggerOptions, SignalSource } from '@reeve/runtime'
import { Command, CommanderError, Option } from 'commander'
import { type CommandContext, EXIT, type SubcommandEntry, type TextSink } from './subcommand.ts'

/** A program with subcommands. */
export interface CommandLine {
  /** What users type, such as `webapp-operator`. */
  readonly name: string
  /** What the program is for, in one sentence. */
  readonly description: string
  readonly version: string
  /** For `--help`: each a command and what it does. */
  readonly examples: readonly string[]
  /** In the order of `--help`. */
  readonly subcommands: readonly SubcommandEntry[]
  /** What its own exit codes mean, beside those of {@link EXIT}. */
  readonly exitCodes?: Readonly<Record<number, string>>
  /** Secrets that never reach the log, beside the usual ones: the tokens of a vendor; global expressions. @default [] */
  readonly secretPatterns?: readonly RegExp[]
}

/** The part of the process that is used; tests put another in its place. */
export interface ProcessParts extends Omit<CommandContext, 'logger' | 'untilSignal'> {
  /** Ends the process without waiting for anything. */
  readonly exit: (code: number) => void
  /** Where SIGTERM and SIGINT come from. */
  readonly signals: SignalSource
}

/** Exit codes above tell the number of a signal. */
const SIGNALLED = 128

type Logging = Pick<LoggerOptions, 'level' | 'secretPatterns'>

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

const EXIT_CODES: Readonly<Record<number, string>> = {
  [EXIT.done]: 'done',
  [EXIT.failed]: 'failed, or something was refused',
  [EXIT.usage]: 'the command line was wrong',
}

/**
 * Runs a command line and answers with the exit code of the process. Every subcommand also has `--help` and
 * `--log-level`.
 *
 * @example
 * const subcommands = [{ name: 'crd', summary: 'print the CRD', load: () => import('./crd.ts') }]
 * const code = await runCommandLine({ name: 'greeter', description, version, examples: [], subcommands }, process.argv)
 */
export async function runCommandLine(
  { name, description, version, examples, subcommands, exitCodes = {}, secretPatterns = [] }: CommandLine,
  argv: readonly string[],
  parts: ProcessParts = ownProcess(),
): Promise<number> {
  const args = argv.slice(2)
  const { stdout, stderr } = parts
  let code: number = EXIT.done
  const program = new Command(name)
    .description(description)
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (line) => stdout.write(line),
      writeErr: (line) => stderr.write(line),
      getOutHasColors: () => stdout.hasColors,
      getErrHasColors: () => stderr.hasColors,
    })
    .showHelpAfterError(`(${name} --help shows what there is)`)
    .addHelpText('after', helpAfter(examples, { ...EXIT_CODES, ...exitCodes }))
  const wanted = wantedName(args)
  for (const { name: known, summary, load } of subcommands) {
    const command = program.command(known).description(summary)
    if (known !== wanted) continue
    const { command: subcommand } = await load()
    subcommand.configure(command)
    command.addOption(logLevelOption(parts.env)).action(async () => {
      const { logLevel, ...options } = command.opts()
      // What commander read by the options that `configure` declared.
      code = await subcommand.run(options as never, contextOf(parts, { level: logLevel, secretPatterns }))
    })
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`)
    return EXIT.failed
  }
  return code
}

/** The program itself has no options with values, so that the first word is the name of the subcommand. */
function wantedName(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'))
  return first === 'help' ? second : first
}

/** Numbers are the keys, so the codes come in their order. */
function helpAfter(examples: readonly string[], exitCodes: Readonly<Record<number, string>>): string {
  const codes = Object.entries(exitCodes).map(([code, meaning]) => `${code.padEnd(4)}${meaning}`)
  return `\nExamples:\n  ${examples.join('\n  ')}\n\nExit codes:\n  ${codes.join('\n  ')}`
}

/** An unknown level in the environment is read as info: the chart of another release may set it. */
function logLevelOption({ LOG_LEVEL }: ProcessParts['env']): Option {
  const level = LOG_LEVELS.find((known) => known === LOG_LEVEL) ?? 'info'
  return new Option('--log-level <level>', 'minimum level of the JSON log on standard error (env: LOG_LEVEL)')
    .choices([...LOG_LEVELS])
    .default(level)
}

function contextOf(parts: ProcessParts, logging: Logging): CommandContext {
  const { env, readStdin, stdout, stderr, signals: source, exit } = parts
  const logger = () => jsonLogger(logging, stderr)
  return {
    env,
    readStdin,
    stdout,
    stderr,
    logger,
    async untilSignal(work) {
      const [{ runUntilSignal }, log] = await Promise.all([import('@reeve/runtime'), logger()])
      const code = await runUntilSignal((signal) => work(signal, log), { logger: log, source })
      // Whoever asks twice does not want to wait for what is left to be closed.
      if (code > SIGNALLED) exit(code)
      return code
    },
  }
}

async function jsonLogger(logging: Logging, destination: ProcessParts['stderr']) {
  const { createLogger } = await import('@reeve/runtime')
  return createLogger({ ...logging, destination: { write: (line) => void destination.write(line) } })
}

function ownProcess(): ProcessParts {
  const { env, stdin, stdout, stderr } = process
  // Somebody who stops reading, as `| head` does, ends this program as it ends others: by the code of SIGPIPE.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(SIGNALLED + constants.signals.SIGPIPE)
  })
  return {
    env,
    readStdin: () => text(stdin),
    stdout: sink(stdout),
    stderr: sink(stderr),
    signals: process,
    exit: (code) => process.exit(code),
  }
}

function sink(stream: NodeJS.WriteStream): TextSink {
  return { write: (chunk) => stream.write(chunk), hasColors: stream.isTTY && stream.hasColors() }
}
