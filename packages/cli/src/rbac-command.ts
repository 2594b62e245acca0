/** `<operator> rbac`: the account of an operator and its roles, derived from what it watches and renders. */
import type { KubeObject } from '@reeve/kube'
import type { RbacOptions, RbacRoles } from '@reeve/runtime/operator'
import { append } from './option-values.ts'
import { EXIT, type Subcommand, type TextSink } from './subcommand.ts'

/** The parsed options. */
interface Options {
  readonly namespace?: string
  readonly serviceAccount?: string
  readonly webhook: boolean
  readonly webhookSecret?: string
  readonly webhookConfiguration?: string
  readonly protectMetrics: boolean
  readonly shards: boolean
  readonly upgradeCrds: boolean
  readonly watchNamespace?: readonly string[]
}

/**
 * The subcommand.
 *
 * @param operator its name, for help without importing it
 * @param load imports the operator, when the command runs. Its name is also that of the objects in its chart
 *
 * @example
 * export const command = rbacCommand('greeter', async () => (await import('../operator.ts')).greeter)
 */
export function rbacCommand(
  operator: string,
  load: () => Promise<{ readonly name: string; rbac(options: RbacOptions): RbacRoles }>,
): Subcommand<Options> {
  return {
    configure: (cli) =>
      void cli
        .option('--namespace <name>', 'namespace of the operator, which must exist (default: the name of the operator)')
        .option('--service-account <name>', 'ServiceAccount of the operator (default: the name of the operator)')
        .option('--webhook', 'include the permissions to issue the certificate of the webhooks', false)
        .option('--webhook-secret <name>', 'Secret of that certificate (default: <name of the operator>-certificate)')
        .option(
          '--webhook-configuration <name>',
          'webhook configurations whose CA bundle is set (default: the name of the operator)',
        )
        .option('--protect-metrics', 'include the permissions to check who reads /metrics', false)
        .option('--upgrade-crds', 'include the permissions to upgrade the CustomResourceDefinitions', false)
        .option('--shards', 'include the permissions for the Leases of `run --shards`', false)
        .option('--watch-namespace <name>', 'for an operator that watches this namespace only; may be repeated', append)
        .addHelpText(
          'after',
          `\nExamples:\n  ${operator} rbac\n  ${operator} rbac --watch-namespace shop\n  ${operator} rbac --webhook | kubectl apply -f -     after kubectl create namespace ${operator}`,
        ),
    run: async (options, { stdout }) => {
      const { name, rbac } = await load()
      const {
        namespace = name,
        serviceAccount = name,
        webhook,
        protectMetrics: protectsMetrics,
        watchNamespace: namespaces,
        shards: isSharded,
        upgradeCrds: upgradesCrds,
      } = options
      const { webhookSecret: secret = `${name}-certificate`, webhookConfiguration = name } = options
      const serving = { secret, configurations: [webhookConfiguration] }
      return printRoles(
        rbac({ namespace, protectsMetrics, namespaces, isSharded, upgradesCrds, ...(webhook && { webhook: serving }) }),
        { namespace, name: serviceAccount },
        stdout,
      )
    },
  }
}

/** A ServiceAccount. */
interface Account {
  readonly namespace: string
  readonly name: string
}

/** Prints the account and its roles, bound to it, as YAML documents, and returns the exit code. */
export async function printRoles(
  { clusterRole, roles }: RbacRoles,
  account: Account,
  stdout: TextSink,
): Promise<number> {
  const { default: yaml } = await import('yaml')
  const granting = [clusterRole, ...roles].filter(({ rules = [] }) => rules.length > 0)
  const objects = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account },
    ...granting.flatMap((role) => [role, bindingOf(role, account)]),
  ]
  stdout.write(objects.map((object) => yaml.stringify(object)).join('---\n'))
  return EXIT.done
}

/** The binding has the name of the role. Kubernetes does not let it refer to another role later. */
function bindingOf({ apiVersion, kind, metadata }: KubeObject, account: Account): KubeObject {
  return {
    apiVersion,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  } as KubeObject
}
