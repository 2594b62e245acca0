/** @module The command line of an operator; dependencies of a subcommand are imported when it runs. */
export { type CommandLine, type ProcessParts, runCommandLine } from './command-line.ts'
export { addFileOption, addOutputOption, type FileOptions, type OutputOptions } from './file-options.ts'
export { OPERATOR_EXIT_CODES, operatorCommands, runOperatorCommandLine } from './operator-commands.ts'
export { append, port, positiveInteger } from './option-values.ts'
export { printRoles, rbacCommand } from './rbac-command.ts'
export {
  addConsoleOptions,
  addRunOptions,
  addShardOption,
  type ConsoleOptions,
  type RunOptions,
  type ShardOptions,
} from './run-options.ts'
export {
  type CommandContext,
  EXIT,
  type Subcommand,
  type SubcommandEntry,
  type TextSink,
} from './subcommand.ts'
