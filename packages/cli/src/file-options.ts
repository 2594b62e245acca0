/** Options that commands which read files have in common. */
import { type Command, Option } from 'commander'

/** What `-f` gives. */
export interface FileOptions {
  /** At least one; `-` is the standard input. */
  readonly filename: readonly string[]
}

/** What `-o` gives. */
export interface OutputOptions {
  readonly output: 'text' | 'json'
}

/**
 * Adds `-f`, which may be repeated and takes several names.
 *
 * @example
 * addOutputOption(addFileOption(cli)).addHelpText('after', EXAMPLES)
 */
export function addFileOption(command: Command): Command {
  return command.requiredOption(
    '-f, --filename <path...>',
    'YAML or JSON files of one or more objects; - is standard input',
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
    new Option('-o, --output <format>', 'for people or for machines').choices(['text', 'json']).default('text'),
  )
}
