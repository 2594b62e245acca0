/** What a subcommand is: known by name and summary, loaded when somebody asks for it. */
import type { Logger } from '@reeve/runtime'
import type { Command } from 'commander'

/** How a command ends, as the exit code of the process. A program may have more, for outcomes of its own. */
export const EXIT = {
  done: 0,
  /** It failed, or something was refused. */
  failed: 1,
  /** The command line was wrong. */
  usage: 64,
} as const

/** Where text goes. */
export interface TextSink {
  write(text: string): unknown
  /** Whether text may be coloured: a person looks at it, and has not set NO_COLOR. */
  readonly hasColors: boolean
}

/** What a subcommand knows of its process. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The text of the standard input, to its end. */
  readonly readStdin: () => Promise<string>
  readonly stdout: TextSink
  readonly stderr: TextSink
  /** JSON lines on standard error at the level of `--log-level` or LOG_LEVEL; what it needs is loaded by the call. */
  readonly logger: () => Promise<Logger>
  /**
   * Works until the process is told to stop (SIGTERM, Ctrl-C), and answers with the exit code; a failure is logged. Told
   * twice, the process ends at once, whatever is still under way.
   */
  readonly untilSignal: (work: (signal: AbortSignal, logger: Logger) => Promise<void>) => Promise<number>
}

/**
 * A subcommand. `Options` is what its options give together; `--log-level` and `--help` are added by the frame.
 *
 * *Assumptions*: what only the work needs is imported inside `run`, so that `--help` stays quick.
 *
 * @example
 * export const command: Subcommand<{ readonly name: string }> = {
 *   configure: (cli) => void cli.option('--name <name>', 'whom to greet', 'world'),
 *   run: async ({ name }, { stdout }) => {
 *     stdout.write(`hello ${name}\n`)
 *     return EXIT.done
 *   },
 * }
 */
export interface Subcommand<Options> {
  /** Adds options, the long description and examples. */
  readonly configure: (command: Command) => void
  /** Works, and answers with the exit code: one of {@link EXIT}, or one that the program adds. */
  readonly run: (options: Options, context: CommandContext) => Promise<number>
}

/** A line of the table of subcommands: all that is known without loading one. */
export interface SubcommandEntry {
  readonly name: string
  /** Half a sentence for the list in `--help`. */
  readonly summary: string
  /** Options differ from one to the next; only the frame calls them, with what commander read. */
  readonly load: () => Promise<{ readonly command: Subcommand<never> }>
}
