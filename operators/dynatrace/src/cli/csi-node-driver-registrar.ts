/** `dynatrace-operator csi-node-driver-registrar`: announces the CSI driver to the kubelet of its node. */
import type { Subcommand } from '@reeve/cli'
import { CSI_SOCKET, KUBELET_SOCKET, REGISTRATION_DIRECTORY } from '../csi/names.ts'

interface RegistrarFlags {
  readonly csiAddress: string
  readonly pluginRegistrationPath: string
  readonly kubeletRegistrationPath: string
}

const EXAMPLES = `
Examples:
  dynatrace-operator csi-node-driver-registrar --csi-address=/csi/csi.sock`

/** The subcommand. */
export const command: Subcommand<RegistrarFlags> = {
  configure: (cli) =>
    void cli
      .description(
        `Waits for the CSI driver and then serves the registration socket that the kubelet looks for. The socket is removed at
the end, by which the kubelet forgets the driver.`,
      )
      .option('--csi-address <path>', 'socket of the driver', CSI_SOCKET)
      .option('--plugin-registration-path <path>', 'directory for the registration socket', REGISTRATION_DIRECTORY)
      .option('--kubelet-registration-path <path>', 'socket of the driver as a path of the node', KUBELET_SOCKET)
      .addHelpText('after', EXAMPLES),
  run: ({ csiAddress, pluginRegistrationPath, kubeletRegistrationPath }, { untilSignal }) =>
    untilSignal(async (signal, logger) => {
      const { runRegistrar } = await import('../csi/registrar/registrar.ts')
      const options = {
        csiSocket: csiAddress,
        kubeletSocket: kubeletRegistrationPath,
        registrationDirectory: pluginRegistrationPath,
        logger,
      }
      await runRegistrar(options, signal)
    }),
}
