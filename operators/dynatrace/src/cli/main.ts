/** The command line of the operator: one file per subcommand, loaded when it is used. */
import { type ProcessParts, runCommandLine } from '@reeve/cli'
import manifest from '../../package.json' with { type: 'json' }
import { SUBCOMMANDS } from './subcommands.ts'
import { DYNATRACE_TOKENS } from './token-patterns.ts'

/**
 * Runs a command line and answers with the exit code of the process.
 *
 * @example
 * process.exitCode = await main(process.argv)
 */
export function main(argv: readonly string[], parts?: ProcessParts): Promise<number> {
  const line = {
    name: 'dynatrace-operator',
    description: 'Observes Kubernetes clusters with Dynatrace, as DynaKubes and EdgeConnects say.',
    version: manifest.version,
    examples: [
      'dynatrace-operator validate -f dynakube.yaml               what the webhook would say, without a cluster',
      'dynatrace-operator convert -f dynakube.yaml --to v1beta6   the same resource in the newest version',
      'dynatrace-operator help validate                           options and examples of a command',
    ],
    subcommands: SUBCOMMANDS,
    secretPatterns: DYNATRACE_TOKENS,
    exitCodes: { 2: 'plan only: there are changes to make' },
  }
  return runCommandLine(line, argv, parts)
}
