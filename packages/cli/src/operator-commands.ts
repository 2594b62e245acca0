/** The subcommands that follow from `defineOperator`: run, plan, crd, rbac and detach-crds. */
import type { Operator } from '@reeve/runtime'
import { type ProcessParts, runCommandLine } from './command-line.ts'
import { append } from './option-values.ts'
import { PLAN_CHANGES, planCommand } from './plan-command.ts'
import { rbacCommand } from './rbac-command.ts'
import { addRunOptions, addShardOption, type RunOptions, type ShardOptions } from './run-options.ts'
import type { Subcommand, SubcommandEntry } from './subcommand.ts'

/** What the commands need of an operator. */
export type CommandedOperator = Pick<
  // Whatever its resources are.
  Operator<never>,
  'name' | 'crds' | 'rbac' | 'describe' | 'webhooks' | 'webhookConfigurations'
> & {
  create(options: Parameters<Operator<never>['create']>[0]): Pick<ReturnType<Operator<never>['create']>, 'manager'>
}

/**
 * The subcommands.
 *
 * @param name of the operator, for help without importing it
 * @param load imports the operator, when a command runs
 *
 * @example
 * subcommands: operatorCommands('greeter', async () => (await import('./operator.ts')).greeter)
 */
export function operatorCommands(name: string, load: () => Promise<CommandedOperator>): readonly SubcommandEntry[] {
  return [
    {
      name: 'run',
      summary: 'run the operator until SIGTERM',
      load: async () => ({ command: runCommand(name, load) }),
    },
    {
      name: 'plan',
      summary: 'print what the operator would change, without changing it',
      load: async () => ({ command: planCommand(name, load) }),
    },
    {
      name: 'crd',
      summary: 'print the CustomResourceDefinitions',
      load: async () => ({ command: (await import('./crd-command.ts')).crdCommand(name, load) }),
    },
    {
      name: 'rbac',
      summary: 'print the account and the roles that the operator needs',
      load: async () => ({ command: rbacCommand(name, load) }),
    },
    {
      name: 'detach-crds',
      summary: 'make converted CustomResourceDefinitions readable without the operator, before an uninstall',
      load: async () => ({ command: (await import('./detach-command.ts')).detachCommand(name, load) }),
    },
  ]
}

/** Exit codes of {@link operatorCommands} besides those of every program. */
export const OPERATOR_EXIT_CODES: Readonly<Record<number, string>> = {
  [PLAN_CHANGES]: 'plan: there are changes to make',
}

/**
 * Runs the command line of an operator, and returns the exit code of the process.
 *
 * @example
 * process.exitCode = await runOperatorCommandLine(greeter, { version: '1.0.0', description }, process.argv)
 */
export function runOperatorCommandLine(
  operator: CommandedOperator,
  about: { readonly version: string; readonly description: string },
  argv: readonly string[],
  parts?: ProcessParts,
): Promise<number> {
  const { name } = operator
  const examples = [
    `${name} run                        with the current context of your kubeconfig, or inside a cluster`,
    `${name} plan                       what the operator would change now`,
    `${name} crd | kubectl apply -f -   install the CustomResourceDefinitions; see crd --help for several versions`,
  ]
  const subcommands = operatorCommands(name, async () => operator)
  return runCommandLine({ name, ...about, examples, subcommands, exitCodes: OPERATOR_EXIT_CODES }, argv, parts)
}

interface RunCommandOptions extends RunOptions, ShardOptions {
  readonly watchNamespace?: readonly string[]
}

function runCommand(name: string, load: () => Promise<CommandedOperator>): Subcommand<RunCommandOptions> {
  const examples = `
Examples:
  ${name} run
  ${name} run --watch-namespace shop --watch-namespace blog
  ${name} run --leader-elect --webhook   as a chart starts each replica
  ${name} run --shards 8                 all replicas work, each on its part of the resources`
  return {
    configure: (cli) =>
      void addShardOption(
        addRunOptions(
          cli.option('--watch-namespace <name>', 'watch this namespace only; may be repeated', append),
          name,
        ),
      ).addHelpText('after', examples),
    run: async (options, context) => {
      const [{ openOperatorProcess }, operator] = await Promise.all([import('./operator-process.ts'), load()])
      await using own = await openOperatorProcess(name, options, context)
      const { mutating, validating } = operator.webhookConfigurations({ location: NOWHERE })
      const webhook = own.webhook(
        ...(mutating ? (['mutating'] as const) : []),
        ...(validating ? (['validating'] as const) : []),
      )
      const { manager } = operator.create({
        ...own.frame,
        concurrency: options.concurrency,
        namespaces: options.watchNamespace,
        webhook,
      })
      return await context.untilSignal((signal) => manager.run(signal))
    },
  }
}

/** Only whether there are webhooks matters, not where. */
const NOWHERE = { url: 'https://localhost' }
