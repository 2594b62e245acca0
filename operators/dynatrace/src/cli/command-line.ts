/** The command line of the operator, with the subcommands that a bundle has. */
import type { CommandLine, SubcommandEntry } from '@reeve/cli'
import manifest from '../../package.json' with { type: 'json' }
import { DYNATRACE_TOKENS } from '../token-patterns.ts'

/** The command line with these subcommands. */
export function commandLine(subcommands: readonly SubcommandEntry[]): CommandLine {
  return {
    name: 'dynatrace-operator',
    description: 'Observes Kubernetes clusters with Dynatrace, as DynaKubes and EdgeConnects say.',
    version: manifest.version,
    examples: [
      'dynatrace-operator validate -f dynakube.yaml               validate as the webhook would, without a cluster',
      'dynatrace-operator convert -f dynakube.yaml --to v1beta6   the same resource in the newest version',
      'dynatrace-operator help validate                           options and examples of a command',
    ],
    subcommands,
    secretPatterns: DYNATRACE_TOKENS,
    exitCodes: { 2: 'plan only: there are changes to make' },
  }
}
