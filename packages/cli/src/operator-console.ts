/** The console of an operator process, if its options ask for one. */
import type { OperatorConsole } from '@reeve/console'
import type { Logger } from '@reeve/runtime'
import type { ConsoleOptions } from './run-options.ts'
import type { CommandContext } from './subcommand.ts'

/**
 * Opens the console, or nothing without `--console`. Its link is written to standard error when it listens. Inside a
 * cluster a token in a link would be in the log, so that accounts of the cluster protect it there, whatever its address.
 *
 * @param secretPatterns additional secrets that must not be shown
 *
 * @example
 * const opened = await openOperatorConsole(options, context, logger)
 * const { manager } = operator.create({ client, observer: opened?.observer })
 */
export async function openOperatorConsole(
  { console: isWanted, consoleHost: host, consolePort: port, consoleName: names = [] }: ConsoleOptions,
  { env, stderr }: Pick<CommandContext, 'env'> & { readonly stderr: Pick<CommandContext['stderr'], 'write'> },
  logger: Logger,
  secretPatterns: readonly RegExp[] = [],
): Promise<OperatorConsole | undefined> {
  if (!isWanted) return undefined
  const { openConsole } = await import('@reeve/console')
  const isInCluster = env.KUBERNETES_SERVICE_HOST !== undefined
  return openConsole({
    host,
    port,
    names,
    ...(isInCluster && { isProtected: true }),
    secretPatterns,
    logger,
    onReady: (link) => void stderr.write(`console: ${forwarded(env, port) ?? link}\n`),
  })
}

/** Inside a pod the address of the server leads nowhere for people: how to reach it from their machine. */
function forwarded(env: CommandContext['env'], port: number): string | undefined {
  const { KUBERNETES_SERVICE_HOST: apiServer, POD_NAMESPACE: namespace, POD_NAME: pod } = env
  if (apiServer === undefined || namespace === undefined || pod === undefined) return undefined
  return `https://localhost:${port}/ after kubectl -n ${namespace} port-forward pod/${pod} ${port}`
}
