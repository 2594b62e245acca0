/** The command line of the operator. */
import { OPERATOR_EXIT_CODES, operatorCommands, type ProcessParts, runCommandLine } from '@reeve/cli'
import manifest from '../../package.json' with { type: 'json' }
import { NAME } from '../render/labels.ts'

/**
 * Runs a command line and returns the exit code of the process.
 *
 * @example
 * process.exitCode = await main(process.argv)
 */
export function main(argv: readonly string[], parts?: ProcessParts): Promise<number> {
  const line = {
    name: NAME,
    description: 'Runs web applications from WebApp resources, each as a Deployment and a Service.',
    version: manifest.version,
    examples: [
      'webapp-operator run                        with the current context of your kubeconfig, or inside a cluster',
      'webapp-operator validate -f webapp.yaml    what the webhook would say, without a cluster',
      'webapp-operator plan -f webapp.yaml        what would change if the file were applied',
      'webapp-operator crd | kubectl apply -f -   install the CustomResourceDefinition',
    ],
    exitCodes: OPERATOR_EXIT_CODES,
    subcommands: [
      ...operatorCommands(NAME, async () => (await import('../operator.ts')).webAppOperator),
      { name: 'validate', summary: 'validate files as the webhook would', load: () => import('./validate.ts') },
    ],
  }
  return runCommandLine(line, argv, parts)
}
