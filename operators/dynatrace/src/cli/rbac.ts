/** `dynatrace-operator rbac`: the roles that the operator needs with its settings. */
import type { Subcommand } from '@reeve/cli'

interface RbacOptions {
  readonly namespace?: string
  readonly serviceAccount: string
}

const DEFAULT_NAMESPACE = 'dynatrace'
const DEFAULT_ACCOUNT = 'dynatrace-operator'

const EXAMPLES = `
Environment:
  DT_HOST_AVAILABILITY_DETECTION  false: without the rights to watch nodes
  WEBHOOK_CERTIFICATES            provided: without the rights to issue certificates
  modules.json                    which parts of the operator are installed

Examples:
  dynatrace-operator rbac
  dynatrace-operator rbac -n observability | kubectl apply -f -`

/** The subcommand. */
export const command: Subcommand<RbacOptions> = {
  configure: (cli) =>
    void cli
      .description(
        'Prints the ServiceAccount of the operator with its roles and bindings, as they follow from its controllers.',
      )
      .option('-n, --namespace <name>', `namespace of the operator (env: POD_NAMESPACE, else ${DEFAULT_NAMESPACE})`)
      .option('--service-account <name>', 'ServiceAccount of the operator', DEFAULT_ACCOUNT)
      .addHelpText('after', EXAMPLES),
  run: async (options, { env, stdout }) => {
    const [{ printRoles }, { operatorSettings }, { dynatraceRoles }] = await Promise.all([
      import('@reeve/cli'),
      import('../operator-settings.ts'),
      import('../operator.ts'),
    ])
    const POD_NAMESPACE = options.namespace || env.POD_NAMESPACE || DEFAULT_NAMESPACE
    const { namespace, modules, detectsHostAvailability, areCertificatesProvided } = operatorSettings({
      ...env,
      POD_NAMESPACE,
    })
    const roles = dynatraceRoles({
      namespace,
      detectsHostAvailability,
      looksAfterEdgeConnects: modules.edgeConnect,
      issuesCertificates: !areCertificatesProvided,
    })
    return printRoles(roles, { namespace, name: options.serviceAccount }, stdout)
  },
}
