/** The command line of the operator: one file per subcommand, loaded when it is used. */
import { type ProcessParts, runCommandLine } from '@reeve/cli'
import manifest from '../../package.json' with { type: 'json' }

/**
 * Runs a command line and returns the exit code of the process.
 *
 * @example
 * process.exitCode = await main(process.argv)
 */
export function main(argv: readonly string[], parts?: ProcessParts): Promise<number> {
  const line = {
    name: 'collector-operator',
    description: 'Keeps one Helm release per Collector resource.',
    version: manifest.version,
    examples: [
      'collector-operator run --settings settings.yaml   with the context of your kubeconfig, or inside a cluster',
      'collector-operator validate -f collector.yaml     validate as the webhook would, without a cluster',
      'collector-operator crd | kubectl apply -f -       install the CustomResourceDefinition',
    ],
    subcommands: [
      {
        name: 'run',
        summary: 'run the operator until SIGTERM',
        load: () => import('./run.ts'),
      },
      { name: 'validate', summary: 'validate files as the webhook would', load: () => import('./validate.ts') },
      {
        name: 'rbac',
        summary: 'print the account and the roles that the operator needs',
        load: () => import('./rbac.ts'),
      },
      { name: 'crd', summary: 'print the CustomResourceDefinition', load: () => import('./crd.ts') },
    ],
  }
  return runCommandLine(line, argv, parts)
}
