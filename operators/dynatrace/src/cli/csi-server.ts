/** `dynatrace-operator csi-server`: mounts agents into pods of its node, for the kubelet. */
import type { Subcommand } from '@reeve/cli'
import manifest from '../../package.json' with { type: 'json' }
import { DATA_ROOT } from '../csi/names.ts'

interface CsiServerFlags {
  readonly nodeId: string
  readonly endpoint: string
  readonly dataRoot: string
  readonly metricsBindAddress: string
}

const DEFAULT_METRICS_PORT = 8080

const EXAMPLES = `
Environment:
  GRPC_MAX_REQUESTS_LIMIT  volumes published and unpublished at once (20)

Examples:
  dynatrace-operator csi-server --endpoint=unix:/csi/csi.sock --node-id=worker-1`

/** The subcommand. */
export const command: Subcommand<CsiServerFlags> = {
  configure: (cli) =>
    void cli
      .description(
        `Serves the Identity and Node services of the Container Storage Interface on a Unix socket. Volumes with mode=app are
overlays over an agent that the provisioner installed, volumes with mode=host are directories of the node. Needs root.`,
      )
      .option('--node-id <name>', 'name of the node', '')
      .option('--endpoint <url>', 'Unix socket to serve on', 'unix:///tmp/csi.sock')
      .option('--data-root <path>', 'data directory of the node', DATA_ROOT)
      .option('--metrics-bind-address <address>', 'address of /metrics', `:${DEFAULT_METRICS_PORT}`)
      .addHelpText('after', EXAMPLES),
  run: ({ nodeId, endpoint, dataRoot, metricsBindAddress }, { env, untilSignal }) =>
    untilSignal(async (signal, logger) => {
      const [{ runCsiServer }, { socketPath }, { maxRequests }, { bindAddress }] = await Promise.all([
        import('../csi/server/csi-server.ts'),
        import('../csi/grpc/endpoint.ts'),
        import('../csi/server/request-limiter.ts'),
        import('../webhooks/bind-address.ts'),
      ])
      // Agents of arbitrary users write into what is made here.
      process.umask(0)
      logger.info({ version: manifest.version }, 'dynatrace-operator')
      const options = {
        socket: socketPath(endpoint),
        nodeId,
        dataRoot,
        maxRequests: maxRequests(env.GRPC_MAX_REQUESTS_LIMIT),
        version: manifest.version,
        metricsAddress: bindAddress(metricsBindAddress, DEFAULT_METRICS_PORT),
        logger,
      }
      await runCsiServer(options, signal)
    }),
}
