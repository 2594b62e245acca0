/** `<operator> detach-crds`: what has to happen before an operator with a conversion webhook is uninstalled. */
import type { Operator } from '@reeve/runtime'
import { EXIT, type Subcommand } from './subcommand.ts'

interface Options {
  readonly kubeconfig?: string
  readonly namespace: string
  readonly webhookService: string
}

/**
 * The subcommand.
 *
 * @param operator its name, which is also that of its Service
 * @param load imports the operator, when the command runs
 *
 * @example
 * const command = detachCommand('greeter', async () => (await import('./operator.ts')).greeter)
 */
export function detachCommand(
  operator: string,
  load: () => Promise<Pick<Operator<never>, 'crds'>>,
): Subcommand<Options> {
  return {
    configure: (cli) =>
      void cli
        .option('--kubeconfig <path>', 'path of the kubeconfig (default: KUBECONFIG, the pod, or ~/.kube/config)')
        .option('--namespace <name>', 'namespace of the operator', operator)
        .option('--webhook-service <name>', 'Service in front of the webhooks', operator)
        .addHelpText(
          'after',
          `
Stores all objects in one version and takes the conversion webhook out of the CustomResourceDefinitions, which then serve
that version only. \`run --upgrade-crds\` adds the others again. Without a conversion webhook there is nothing to do.

Examples:
  ${operator} detach-crds --namespace ${operator}   while the operator runs, before \`helm uninstall\``,
        ),
    run: async ({ kubeconfig, namespace, webhookService: name }, { env, untilSignal }) => {
      const [{ connect }, { detachCrds }, { crds }] = await Promise.all([
        import('@reeve/kube'),
        import('@reeve/runtime/operator'),
        load(),
      ])
      const service = { namespace, name }
      const names = crds({ service }).flatMap(({ metadata, spec }) =>
        spec.conversion?.strategy === 'Webhook' ? (metadata.name ?? []) : [],
      )
      if (names.length === 0) return EXIT.done
      const client = await connect({ env, fieldManager: operator, ...(kubeconfig !== undefined && { kubeconfig }) })
      try {
        return await untilSignal((signal, logger) => detachCrds(client, names, { service, signal, logger }))
      } finally {
        await client.close()
      }
    },
  }
}
