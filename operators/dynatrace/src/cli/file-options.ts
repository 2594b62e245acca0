/** Options that commands which read files have in common. */
import { type Command, Option } from 'commander'

/** What they give. */
export interface FileOptions {
  readonly filename: readonly string[]
}

/** Adds `-f`, which may be repeated and takes several names. */
export function addFileOption(command: Command): Command {
  return command.requiredOption(
    '-f, --filename <path...>',
    'YAML or JSON files of one or more objects; - is standard input',
  )
}

/** Adds `-o text|json`. */
export function addOutputOption(command: Command): Command {
  return command.addOption(
    new Option('-o, --output <format>', 'for people or for machines').choices(['text', 'json']).default('text'),
  )
}
