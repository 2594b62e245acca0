/** `dynatrace-operator livenessprobe`: allows the kubelet to probe the CSI driver over HTTP. */
import { port, type Subcommand } from '@reeve/cli'
import { CSI_SOCKET } from '../csi/names.ts'
import { DEFAULT_PROBE_TIMEOUT_MS, durationMs } from './probe-timeout.ts'

interface LivenessFlags {
  readonly csiAddress: string
  readonly healthPort: number
  /** In milliseconds. */
  readonly probeTimeout: number
}

const EXAMPLES = `
Examples:
  dynatrace-operator livenessprobe --csi-address=/csi/csi.sock --health-port=9808 --probe-timeout=9s`

/** The subcommand. */
export const command: Subcommand<LivenessFlags> = {
  configure: (cli) =>
    void cli
      .description(
        `Waits for the CSI driver and then serves /healthz: every request asks the driver whether it is ready, and responds with
200 or 500.`,
      )
      .option('--csi-address <path>', 'socket of the driver', CSI_SOCKET)
      .option('--health-port <port>', 'port of /healthz', port, 9808)
      .option('--probe-timeout <duration>', 'time for one probe, such as 9s', durationMs, DEFAULT_PROBE_TIMEOUT_MS)
      .addHelpText('after', EXAMPLES),
  run: ({ csiAddress, healthPort, probeTimeout }, { untilSignal }) =>
    untilSignal(async (signal, logger) => {
      const { runLivenessProbe } = await import('../csi/liveness/liveness-probe.ts')
      await runLivenessProbe({ csiSocket: csiAddress, port: healthPort, timeoutMs: probeTimeout, logger }, signal)
    }),
}
