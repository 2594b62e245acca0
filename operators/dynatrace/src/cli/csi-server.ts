/** `dynatrace-operator csi-server`: mounts agents into pods of its node, for the kubelet. */
import { port, type Subcommand } from '@reeve/cli'
import type { Logger } from '@reeve/runtime'
import manifest from '../../package.json' with { type: 'json' }
import { DATA_ROOT, DEFAULT_NAMESPACE, REGISTRATION_DIRECTORY } from '../csi/names.ts'
import { DEFAULT_PROBE_TIMEOUT_MS, durationMs } from './probe-timeout.ts'

interface CsiServerFlags {
  readonly nodeId: string
  readonly endpoint: string
  readonly dataRoot: string
  readonly metricsBindAddress: string
  readonly kubeletRegistrationPath?: string
  readonly pluginRegistrationPath: string
  readonly healthPort?: number
  /** In milliseconds. */
  readonly probeTimeout: number
}

const DEFAULT_METRICS_PORT = 8080

const EXAMPLES = `
Environment:
  GRPC_MAX_REQUESTS_LIMIT  volumes published and unpublished at once (20)
  POD_NAMESPACE            namespace of the operator, whose pods alone get volumes with mode=host (${DEFAULT_NAMESPACE})

Examples:
  dynatrace-operator csi-server --endpoint=unix:/csi/csi.sock --node-id=worker-1
  dynatrace-operator csi-server --endpoint=unix:/csi/csi.sock --node-id=worker-1 --health-port=9808 \\
    --kubelet-registration-path=/var/lib/kubelet/plugins/csi.oneagent.dynatrace.com/csi.sock`

/** The subcommand. */
export const command: Subcommand<CsiServerFlags> = {
  configure: (cli) =>
    void cli
      .description(
        `Serves the Identity and Node services of the Container Storage Interface on a Unix socket. Volumes with mode=app are
overlays over an agent that the provisioner installed, volumes with mode=host are directories of the node, for pods of the
operator's namespace only. Needs root.

With --kubelet-registration-path and --health-port it is its own registrar and liveness probe: one process instead of
three.`,
      )
      .option('--node-id <name>', 'name of the node', '')
      .option('--endpoint <url>', 'Unix socket to serve on', 'unix:///tmp/csi.sock')
      .option('--data-root <path>', 'data directory of the node', DATA_ROOT)
      .option('--metrics-bind-address <address>', 'address of /metrics', `:${DEFAULT_METRICS_PORT}`)
      .option('--kubelet-registration-path <path>', 'register with the kubelet: this socket as a path of the node')
      .option('--plugin-registration-path <path>', 'directory for the registration socket', REGISTRATION_DIRECTORY)
      .option('--health-port <port>', 'serve /healthz on this port', port)
      .option('--probe-timeout <duration>', 'time for one probe, such as 9s', durationMs, DEFAULT_PROBE_TIMEOUT_MS)
      .addHelpText('after', EXAMPLES),
  run: (flags, { env, untilSignal }) =>
    untilSignal(async (signal, logger) => {
      // Agents of arbitrary users write into what is created here.
      process.umask(0)
      logger.info({ version: manifest.version }, 'dynatrace-operator')
      const { runTogether } = await import('../csi/run-together.ts')
      await runTogether(await partsOf(flags, env, logger), signal)
    }),
}

async function partsOf(flags: CsiServerFlags, env: Readonly<Record<string, string | undefined>>, logger: Logger) {
  const { nodeId, endpoint, dataRoot, metricsBindAddress, kubeletRegistrationPath, healthPort: healthz } = flags
  const [{ runCsiServer }, { socketPath }, { maxRequests }, { bindAddress }, registrar, liveness] = await Promise.all([
    import('../csi/server/csi-server.ts'),
    import('../csi/grpc/endpoint.ts'),
    import('../csi/server/request-limiter.ts'),
    import('../webhooks/bind-address.ts'),
    import('../csi/registrar/registrar.ts'),
    import('../csi/liveness/liveness-probe.ts'),
  ])
  const socket = socketPath(endpoint)
  const server = {
    socket,
    nodeId,
    dataRoot,
    namespace: env.POD_NAMESPACE || DEFAULT_NAMESPACE,
    maxRequests: maxRequests(env.GRPC_MAX_REQUESTS_LIMIT),
    version: manifest.version,
    metricsAddress: bindAddress(metricsBindAddress, DEFAULT_METRICS_PORT),
    logger,
  }
  const parts = [(signal: AbortSignal) => runCsiServer(server, signal)]
  if (kubeletRegistrationPath !== undefined) {
    const options = {
      csiSocket: socket,
      kubeletSocket: kubeletRegistrationPath,
      registrationDirectory: flags.pluginRegistrationPath,
      logger,
    }
    parts.push((signal) => registrar.runRegistrar(options, signal))
  }
  if (healthz !== undefined) {
    const options = { csiSocket: socket, port: healthz, timeoutMs: flags.probeTimeout, logger }
    parts.push((signal) => liveness.runLivenessProbe(options, signal))
  }
  return parts
}
