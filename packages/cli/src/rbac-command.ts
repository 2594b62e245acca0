/** `<operator> rbac`: the roles that an operator needs, derived from what it watches and renders. */
import type { RbacOptions, RbacRoles } from '@reeve/runtime/operator'
import { EXIT, type Subcommand, type TextSink } from './subcommand.ts'

/** The parsed options. */
interface Options {
  readonly namespace: string
  readonly webhook: boolean
  readonly webhookSecret: string
  readonly webhookConfiguration: string
  readonly protectMetrics: boolean
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
        .addHelpText(
          'after',
          `\nExamples:\n  ${operator} rbac\n  ${operator} rbac --namespace ${operator}-system --webhook | kubectl apply -f -`,
        ),
    run: async ({ namespace, webhook, webhookSecret, webhookConfiguration, protectMetrics }, { stdout }) => {
      const { rbac } = await load()
      const serving = { secret: webhookSecret, configurations: [webhookConfiguration] }
      return printRoles(
        rbac({ namespace, protectsMetrics: protectMetrics, ...(webhook && { webhook: serving }) }),
        stdout,
      )
    },
  }
}

/** Prints the roles as YAML documents, and returns the exit code. */
export async function printRoles({ clusterRole, roles }: RbacRoles, stdout: TextSink): Promise<number> {
  const { stringify } = await import('yaml')
  stdout.write([clusterRole, ...roles].map((role) => stringify(role)).join('---\n'))
  return EXIT.done
}
