/** Options of commands that read files. */
import { type Command, Option } from 'commander'

/** The value of `-f`. */
export interface FileOptions {
  /** Files or folders, at least one; `-` is the standard input. */
  readonly filename: readonly string[]
}

/** The value of `-o`. */
export interface OutputOptions {
  readonly output: 'text' | 'json'
}

/**
 * Adds `-f`, which may be repeated and accepts several names.
 *
 * @example
 * addOutputOption(addFileOption(cli)).addHelpText('after', EXAMPLES)
 */
export function addFileOption(command: Command): Command {
  return command.requiredOption(
    '-f, --filename <path...>',
    'YAML or JSON files of one or more objects, or folders of such files; - is standard input',
  )
}

/**
 * Adds `-o text|json`.
 *
 * @example
 * addOutputOption(cli)
 */
export function addOutputOption(command: Command): Command {
  return command.addOption(
    new Option('-o, --output <format>', 'output format: text or JSON').choices(['text', 'json']).default('text'),
  )
}
