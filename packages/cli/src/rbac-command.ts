/** `<operator> rbac`: the roles that an operator needs, derived from what it watches and renders. */
import type { RbacOptions, RbacRoles } from '@reeve/runtime/operator'
import { append } from './option-values.ts'
import { EXIT, type Subcommand, type TextSink } from './subcommand.ts'

/** The parsed options. */
interface Options {
  readonly namespace: string
  readonly webhook: boolean
  readonly webhookSecret: string
  readonly webhookConfiguration: string
  readonly protectMetrics: boolean
  readonly shards: boolean
  readonly watchNamespace?: readonly string[]
}

/**
 * The subcommand.
 *
 * @param operator its name, which is also that of the objects in its chart
 * @param load imports the operator, when the command runs
 *
 * @example
 * export const command = rbacCommand('greeter', async () => (await import('../operator.ts')).greeter)
 */
export function rbacCommand(
  operator: string,
  load: () => Promise<{ rbac(options: RbacOptions): RbacRoles }>,
): Subcommand<Options> {
  return {
    configure: (cli) =>
      void cli
        .option('--namespace <name>', 'namespace of the operator', operator)
        .option('--webhook', 'include the permissions to issue the certificate of the webhooks', false)
        .option('--webhook-secret <name>', 'Secret of that certificate', `${operator}-certificate`)
        .option('--webhook-configuration <name>', 'webhook configurations whose CA bundle is set', operator)
        .option('--protect-metrics', 'include the permissions to check who reads /metrics', false)
        .option('--shards', 'include the permissions for the Leases of `run --shards`', false)
        .option('--watch-namespace <name>', 'for an operator that watches this namespace only; may be repeated', append)
        .addHelpText(
          'after',
          `\nExamples:\n  ${operator} rbac\n  ${operator} rbac --watch-namespace shop\n  ${operator} rbac --namespace ${operator}-system --webhook | kubectl apply -f -`,
        ),
    run: async (options, { stdout }) => {
      const { rbac } = await load()
      const {
        namespace,
        webhook,
        protectMetrics: protectsMetrics,
        watchNamespace: namespaces,
        shards: isSharded,
      } = options
      const serving = { secret: options.webhookSecret, configurations: [options.webhookConfiguration] }
      return printRoles(
        rbac({ namespace, protectsMetrics, namespaces, isSharded, ...(webhook && { webhook: serving }) }),
        stdout,
      )
    },
  }
}

/** Prints the roles as YAML documents, and returns the exit code. */
export async function printRoles({ clusterRole, roles }: RbacRoles, stdout: TextSink): Promise<number> {
  const { default: yaml } = await import('yaml')
  stdout.write([clusterRole, ...roles].map((role) => yaml.stringify(role)).join('---\n'))
  return EXIT.done
}
