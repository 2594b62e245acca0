/** `<operator> plan`: what an operator would create, change and delete, without doing any of it. */
import type { PlannedOperator } from '@reeve/plan'
import { type Command, Option } from 'commander'
import { EXIT, type Subcommand } from './subcommand.ts'

/** The parsed options. */
export interface PlanOptions {
  readonly filename: readonly string[]
  readonly output: 'text' | 'json'
  readonly full: boolean
  readonly offline: boolean
  /** False after `--no-dry-run`. */
  readonly dryRun: boolean
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
  /** The name of one resource, if it is given. */
  readonly args: readonly string[]
}

/** The exit code when there are changes to make. */
export const PLAN_CHANGES = 2

/** For everything. */
const DEADLINE_MS = 5 * 60_000

const help = (operator: string): string => `
Examples:
  ${operator} plan                          what the operator would do now, with every resource of the cluster
  ${operator} plan -n shop web              with one resource
  ${operator} plan -f web.yaml              if the file were applied
  ${operator} plan -f web.yaml --offline    without a cluster
  kustomize build . | ${operator} plan -f - -o json | jq .summary

Exit codes:
  0   no changes
  1   the plan failed or is incomplete; the findings say why
  2   there are changes to make
  64  the command line is invalid`

/**
 * The subcommand.
 *
 * @param load imports the operator, when the command runs
 *
 * @example
 * export const command = planCommand('greeter', async () => (await import('../operator.ts')).greeter)
 */
export function planCommand(operator: string, load: () => Promise<PlannedOperator>): Subcommand<PlanOptions> {
  return {
    configure: (cli) => configure(cli, operator),
    run: async (options, context) => {
      const { stdout, stderr } = context
      if (options.offline && options.filename.length === 0) {
        stderr.write(`${operator}: --offline needs files; give them with -f\n`)
        return EXIT.usage
      }
      const [{ asDocument, formatText, hasChanges, hasErrors }, { runPlan }, planned] = await Promise.all([
        import('@reeve/plan'),
        import('./run-plan.ts'),
        load(),
      ])
      const plan = await runPlan(planned, options, context, AbortSignal.timeout(DEADLINE_MS))
      if (options.output === 'json') stdout.write(`${JSON.stringify(asDocument(plan), null, 2)}\n`)
      else stdout.write(formatText(plan, { isColoured: stdout.hasColors, isFull: options.full }))
      if (hasErrors(plan)) return EXIT.failed
      return hasChanges(plan) ? PLAN_CHANGES : EXIT.done
    },
  }
}

function configure(cli: Command, operator: string): void {
  cli
    .description(
      [
        'Prints the objects that the operator would create, change or delete.',
        'Without -f: for the resources of the cluster as they are, or for the one that is named.',
        'With -f: if the files were applied.',
        'Nothing is changed: the cluster is read, and dry runs are sent to it. Data of Secrets is never printed.',
      ].join(' '),
    )
    .argument('[name]', 'only the resource of this name; not with -f')
    .option('-f, --filename <path...>', 'YAML or JSON files of one or more objects; - is standard input', [])
    .option('-n, --namespace <name>', 'only resources in this namespace; with -f: for objects that name none')
    .option('--offline', 'without a cluster, from files only', false)
    .option('--no-dry-run', 'do not send dry runs, which need permission to write')
    .option('--full', 'print objects that would be created as a whole', false)
    .addOption(
      new Option('-o, --output <format>', 'output format: text or JSON').choices(['text', 'json']).default('text'),
    )
    .option('--kubeconfig <path>', 'path of the kubeconfig (default: KUBECONFIG, the pod, or ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText('after', help(operator))
}
