/** The frame of a command line: finds the subcommand, imports only that one, and maps failures to exit codes. */
import { constants } from 'node:os'
import { text } from 'node:stream/consumers'
import type { LoggerOptions } from '@reeve/runtime/logging'
import type { SignalSource } from '@reeve/runtime/manager'
import { Command, CommanderError, Option } from 'commander'
import { type CommandContext, EXIT, type SubcommandEntry, type TextSink } from './subcommand.ts'

/** A program with subcommands. */
export interface CommandLine {
  /** The command name, such as `webapp-operator`. */
  readonly name: string
  /** The purpose of the program, in one sentence. */
  readonly description: string
  readonly version: string
  /** For `--help`: each a command and its description. */
  readonly examples: readonly string[]
  /** In the order of `--help`. */
  readonly subcommands: readonly SubcommandEntry[]
  /** Meanings of its own exit codes, in addition to those of {@link EXIT}. */
  readonly exitCodes?: Readonly<Record<number, string>>
  /**
   * Patterns of additional secrets to redact from the log, such as the tokens of a vendor; global expressions. @default
   * []
   */
  readonly secretPatterns?: readonly RegExp[]
}

/** The used parts of the process; tests replace them. */
export interface ProcessParts extends Omit<CommandContext, 'version' | 'logger' | 'untilSignal'> {
  /** Ends the process without waiting for anything. */
  readonly exit: (code: number) => void
  /** The source of SIGTERM and SIGINT. */
  readonly signals: SignalSource
  /** Returns memory to the system while the process rests, until disposed. @default never */
  readonly releaseMemory?: () => Promise<Disposable>
}

/** Higher exit codes contain the number of a signal. */
const SIGNALLED = 128

type Logging = Pick<LoggerOptions, 'level' | 'secretPatterns'>

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

const EXIT_CODES: Readonly<Record<number, string>> = {
  [EXIT.done]: 'done',
  [EXIT.failed]: 'failed, or something was rejected',
  [EXIT.usage]: 'the command line is invalid',
}

/**
 * Runs a command line and returns the exit code of the process. Every subcommand also has `--help` and `--log-level`.
 *
 * @example
 * const subcommands = [{ name: 'crd', summary: 'print the CRD', load: () => import('./crd.ts') }]
 * const code = await runCommandLine({ name: 'greeter', description, version, examples: [], subcommands }, process.argv)
 */
export async function runCommandLine(
  { name, description, version, examples, subcommands, exitCodes = {}, secretPatterns = [] }: CommandLine,
  argv: readonly string[],
  parts: ProcessParts = ownProcess(name),
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
    .showHelpAfterError(`(see ${name} --help)`)
    .addHelpText('after', helpAfter(examples, { ...EXIT_CODES, ...exitCodes }))
  const wanted = wantedName(args)
  for (const { name: known, summary, load } of subcommands) {
    const command = program.command(known).description(summary)
    if (known !== wanted) continue
    const { command: subcommand } = await load()
    subcommand.configure(command)
    command.addOption(logLevelOption(parts.env)).action(async () => {
      const { logLevel, ...parsed } = command.opts()
      // Commands that declare arguments get them as `args`.
      const options = command.registeredArguments.length === 0 ? parsed : { ...parsed, args: command.args }
      // The options as parsed by commander, which `configure` declared.
      code = await subcommand.run(
        options as never,
        contextOf({ name, version }, parts, { level: logLevel, secretPatterns }),
      )
    })
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    // Probes fail often and have to be fast: they load nothing to say so.
    if (!isOfCluster(error)) stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`)
    else stderr.write((await import('./failure-line.ts')).failureLine(name, error, secretPatterns))
    return EXIT.failed
  }
  return code
}

/** Whether the error or one of its causes is one of `@reeve/kube`: by its code, without loading it. */
function isOfCluster(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isOwn = 'code' in error && typeof error.code === 'string' && error.code.startsWith('KUBE_')
  return isOwn || isOfCluster(error.cause)
}

/** The program itself has no options with values, so the first word is the name of the subcommand. */
function wantedName(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'))
  return first === 'help' ? second : first
}

/** The keys are numbers, so the codes are sorted. */
function helpAfter(examples: readonly string[], exitCodes: Readonly<Record<number, string>>): string {
  const codes = Object.entries(exitCodes).map(([code, meaning]) => `${code.padEnd(4)}${meaning}`)
  return `\nExamples:\n  ${examples.join('\n  ')}\n\nExit codes:\n  ${codes.join('\n  ')}`
}

/** An unknown level in the environment means info: the chart of another release may set it. */
function logLevelOption({ LOG_LEVEL }: ProcessParts['env']): Option {
  const level = LOG_LEVELS.find((known) => known === LOG_LEVEL) ?? 'info'
  return new Option(
    '--log-level <level>',
    'minimum level of the log on standard error, which is JSON except on a terminal (env: LOG_LEVEL)',
  )
    .choices([...LOG_LEVELS])
    .default(level)
}

function contextOf(
  { name, version }: Pick<CommandLine, 'name' | 'version'>,
  parts: ProcessParts,
  logging: Logging,
): CommandContext {
  const { env, readStdin, stdout, stderr, signals: source, exit, releaseMemory } = parts
  const logger = () => jsonLogger(logging, stderr)
  return {
    version,
    env,
    readStdin,
    stdout,
    stderr,
    logger,
    async untilSignal(work) {
      const [{ runUntilSignal }, log] = await Promise.all([import('@reeve/runtime/manager'), logger()])
      using _release = await releaseMemory?.()
      let failure: { readonly error: unknown } | undefined
      const reported = async (signal: AbortSignal) => {
        try {
          await work(signal, log)
        } catch (error) {
          failure = { error }
        }
      }
      const code = await runUntilSignal(reported, { logger: log, source })
      if (failure !== undefined) {
        const { failureLine, isEnvironmentFailure } = await import('./failure-line.ts')
        if (!isEnvironmentFailure(failure.error)) log.error({ err: failure.error }, 'failed unexpectedly')
        stderr.write(failureLine(name, failure.error, logging.secretPatterns))
        return EXIT.failed
      }
      // On a second signal, do not wait for the remaining work.
      if (code > SIGNALLED) exit(code)
      return code
    },
  }
}

async function jsonLogger(logging: Logging, destination: ProcessParts['stderr']) {
  const { createLogger } = await import('@reeve/runtime/logging')
  // Lines for people on a terminal, JSON for everything that collects logs.
  const pretty = destination.hasColors
  return createLogger({ ...logging, pretty, destination: { write: (line) => void destination.write(line) } })
}

function ownProcess(name: string): ProcessParts {
  const { env, stdin, stdout, stderr } = process
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // If the reader of the output stops, as with `| head`, exit like other programs: with the code of SIGPIPE.
    if (error.code === 'EPIPE') process.exit(SIGNALLED + constants.signals.SIGPIPE)
    stderr.write(`${name}: cannot write to standard output: ${error.message}\n`)
    process.exit(EXIT.failed)
  })
  return {
    env,
    readStdin: () => text(stdin),
    stdout: sink(stdout),
    stderr: sink(stderr),
    signals: process,
    exit: (code) => process.exit(code),
    releaseMemory: async () => (await import('./release-memory.ts')).releaseMemoryAtRest(),
  }
}

function sink(stream: NodeJS.WriteStream): TextSink {
  return { write: (chunk) => stream.write(chunk), hasColors: stream.isTTY && stream.hasColors() }
}
