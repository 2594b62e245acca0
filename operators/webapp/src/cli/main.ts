/** The command line of the operator: one file per subcommand, loaded when it is used. */
import { type ProcessParts, runCommandLine } from '@reeve/cli'
import manifest from '../../package.json' with { type: 'json' }

/**
 * Runs a command line and answers with the exit code of the process.
 *
 * @example
 * process.exitCode = await main(process.argv)
 */
export function main(argv: readonly string[], parts?: ProcessParts): Promise<number> {
  const line = {
    name: 'webapp-operator',
    description: 'Runs web applications from WebApp resources, each as a Deployment and a Service.',
    version: manifest.version,
    examples: [
      'webapp-operator run                        with the current context of your kubeconfig, or inside a cluster',
      'webapp-operator validate -f webapp.yaml    what the webhook would say, without a cluster',
      'webapp-operator crd | kubectl apply -f -   install the CustomResourceDefinition',
    ],
    subcommands: [
      { name: 'run', summary: 'watch WebApps and keep them running until SIGTERM', load: () => import('./run.ts') },
      { name: 'validate', summary: 'validate files as the webhook would', load: () => import('./validate.ts') },
      { name: 'crd', summary: 'print the CustomResourceDefinition', load: () => import('./crd.ts') },
      { name: 'rbac', summary: 'print the roles that the operator needs', load: () => import('./rbac.ts') },
    ],
  }
  return runCommandLine(line, argv, parts)
}
