/** The command line of the operator: one file per subcommand, loaded when it is used. */
import type { ProcessParts } from '@reeve/cli'
import { commandLine } from './command-line.ts'
import { SUBCOMMANDS } from './subcommands.ts'

/**
 * Runs a command line and returns the exit code of the process.
 *
 * `bootstrap` runs in every injected pod with little memory and processor time, and ignores flags that it does not know:
 * it starts without the frame of the other subcommands.
 *
 * @example
 * process.exitCode = await main(process.argv)
 */
export async function main(argv: readonly string[], parts?: ProcessParts): Promise<number> {
  if (argv[2] === 'bootstrap') {
    const { bootstrap } = await import('../bootstrapper/bootstrap.ts')
    return bootstrap(argv.slice(3))
  }
  const { runCommandLine } = await import('@reeve/cli')
  return runCommandLine(commandLine(SUBCOMMANDS), argv, parts)
}
