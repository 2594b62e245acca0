/** The interface of subcommands: listed by name and summary, imported on use. */
import type { Logger } from '@reeve/runtime'
import type { Command } from 'commander'

/** Exit codes of commands. A program may add its own. */
export const EXIT = {
  done: 0,
  /** It failed, or something was rejected. */
  failed: 1,
  /** The command line is invalid. */
  usage: 64,
} as const

/** An output stream. */
export interface TextSink {
  write(text: string): unknown
  /** Whether text may be coloured: the output is a terminal, and NO_COLOR is not set. */
  readonly hasColors: boolean
}

/** The process as seen by a subcommand. */
export interface CommandContext {
  /** The version of the program. */
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The whole text of the standard input. */
  readonly readStdin: () => Promise<string>
  readonly stdout: TextSink
  readonly stderr: TextSink
  /**
   * JSON lines on standard error at the level of `--log-level` or LOG_LEVEL; its dependencies are imported by the call.
   */
  readonly logger: () => Promise<Logger>
  /**
   * Runs until the process is stopped (SIGTERM, Ctrl-C), and returns the exit code. A failure is explained in one line on
   * standard error, after a log entry with its stack if it is unexpected. On a second signal the process exits immediately,
   * whatever is in progress.
   */
  readonly untilSignal: (work: (signal: AbortSignal, logger: Logger) => Promise<void>) => Promise<number>
}

/**
 * A subcommand. `Options` is the type of its parsed options; `--log-level` and `--help` are added by the frame.
 *
 * *Assumptions*: dependencies are imported inside `run`, so that `--help` stays fast.
 *
 * @example
 * export const command: Subcommand<{ readonly name: string }> = {
 *   configure: (cli) => void cli.option('--name <name>', 'name to greet', 'world'),
 *   run: async ({ name }, { stdout }) => {
 *     stdout.write(`hello ${name}\n`)
 *     return EXIT.done
 *   },
 * }
 */
export interface Subcommand<Options> {
  /** Adds options, the long description and examples. */
  readonly configure: (command: Command) => void
  /** Runs, and returns the exit code: one of {@link EXIT}, or one that the program adds. */
  readonly run: (options: Options, context: CommandContext) => Promise<number>
}

/** An entry of the table of subcommands, which is available without importing it. */
export interface SubcommandEntry {
  readonly name: string
  /** A short summary for the list in `--help`. */
  readonly summary: string
  /** Options differ between subcommands; only the frame calls them, with the options parsed by commander. */
  readonly load: () => Promise<{ readonly command: Subcommand<never> }>
}
