/** `dynatrace-operator plan`: what the operator would do if files were applied, without doing any of it. */

import { addFileOption, type FileOptions, type Subcommand } from '@reeve/cli'
import { type Command, Option } from 'commander'

/** What the command line says. */
export interface PlanOptions extends FileOptions {
  readonly output: 'text' | 'json' | 'yaml'
  readonly full: boolean
  readonly offline: boolean
  readonly against: readonly string[]
  /** False after `--no-dry-run`. */
  readonly dryRun: boolean
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
}

/** For everything; one call to a tenant may be tried for a minute. */
const DEADLINE_MS = 10 * 60_000

const EXAMPLES = `
Examples:
  dynatrace-operator plan -f dynakube.yaml
  dynatrace-operator plan -f dynakube.yaml --context staging --full
  dynatrace-operator plan -f dynakube.yaml --offline
  dynatrace-operator plan -f dynakube.yaml --offline --against cluster.yaml
  kustomize build . | dynatrace-operator plan -f - -o json | jq .summary

Exit codes:
  0   no changes
  2   there are changes to make
  1   the plan failed or is incomplete; the findings say why

Environment:
  KUBECONFIG         which cluster, unless --kubeconfig is given
  DT_OPERATOR_IMAGE  the image of the operator, unless one is installed
  modules.json       which parts of it are installed, unless one is installed`

/** The subcommand. */
export const command: Subcommand<PlanOptions> = {
  configure,
  run: async (options, context) => {
    const [{ runPlan }, logger] = await Promise.all([import('./plan-run.ts'), context.logger()])
    // Ctrl-C ends the process: nothing needs to be cleaned up.
    return runPlan(options, context, { signal: AbortSignal.timeout(DEADLINE_MS), logger })
  },
}

function configure(program: Command): void {
  addFileOption(program)
    .description(
      [
        'Prints the objects that would be created, changed or removed if DynaKubes and EdgeConnects in files were applied, by component, and what would change in the Dynatrace tenant.',
        'Nothing is changed: the cluster is read and gets dry runs, the tenant is only read.',
        'Data of Secrets is never printed.',
        'With --offline neither is reached: the tenant is simulated, and the cluster is empty or as --against says.',
      ].join(' '),
    )
    .option('--offline', 'without a cluster and with a simulated tenant', false)
    .option('--against <path...>', 'with --offline: files or folders with the objects of the cluster', [])
    .option('--no-dry-run', 'do not send dry runs, which need permission to write')
    .option('--full', 'print objects that would be created as a whole', false)
    .addOption(
      new Option('-o, --output <format>', 'for people or for machines')
        .choices(['text', 'json', 'yaml'])
        .default('text'),
    )
    .option('--kubeconfig <path>', 'kubeconfig to use (default: KUBECONFIG, the pod’s own, ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <name>', 'for objects that name none (default: of the context; offline: dynatrace)')
    .addHelpText('after', EXAMPLES)
}
