/**
 * Subcommands that run on every node and talk to the cluster. In the image they have a bundle of their own: that of the
 * operator would take more memory than all they do.
 */
import type { SubcommandEntry } from '@reeve/cli'

/** In the order of `--help`. `bin/image-entry.cjs` repeats the names. */
export const NODE_SUBCOMMANDS: readonly SubcommandEntry[] = [
  {
    name: 'csi-provisioner',
    summary: 'install agents on this node for the CSI driver, until SIGTERM',
    load: () => import('./csi-provisioner.ts'),
  },
  {
    name: 'csi-init',
    summary: 'move volumes of earlier releases to the present layout of the data directory',
    load: () => import('./csi-init.ts'),
  },
]
