/**
 * Subcommands that containers start often and that need few modules. In the image they have their own bundle:
 * reading that of the operator would take ten times as long as what they do.
 */
import type { SubcommandEntry } from '@reeve/cli'

/** In the order of `--help`. `bin/image-entry.cjs` repeats the names. */
export const SMALL_SUBCOMMANDS: readonly SubcommandEntry[] = [
  {
    name: 'startup-probe',
    summary: 'exit 0 if the DNS of the cluster responds',
    load: () => import('./startup-probe.ts'),
  },
  {
    name: 'generate-metadata',
    summary: 'write attributes of a node into a file for agents',
    load: () => import('./generate-metadata.ts'),
  },
  {
    name: 'csi-server',
    summary: 'mount agents into pods of this node, for the kubelet, until SIGTERM',
    load: () => import('./csi-server.ts'),
  },
  {
    name: 'csi-node-driver-registrar',
    summary: 'announce the CSI driver to the kubelet of this node, until SIGTERM',
    load: () => import('./csi-node-driver-registrar.ts'),
  },
  {
    name: 'livenessprobe',
    summary: 'let the kubelet probe the CSI driver over HTTP, until SIGTERM',
    load: () => import('./livenessprobe.ts'),
  },
]
