/** Stand-ins for the images of agents: they do on the node what matters to the operator, and nothing else. */
import { readFile } from 'node:fs/promises'
import type { LayerFile, TenantSimulator } from '@reeve/dynatrace/tenant/simulator'

const BUSYBOX = 'bin/busybox'

/** Writes to its host volume, then runs until it is ended; its health check succeeds once it has written. */
const ONE_AGENT = `#!/bin/busybox sh
trap exit TERM
/bin/busybox env > /mnt/volume_storage_mount/environment || echo "no permission to write to the host volume"
echo "arguments: $*"
/bin/busybox touch /tmp/started 2>/dev/null
while true; do /bin/busybox sleep 1; done
`

/** Replaces the images of OneAgent and ActiveGate in the registry of the tenant. */
export async function addAgentImages(simulator: TenantSimulator, tenantId: string): Promise<void> {
  const busybox = await readFile(process.env.REEVE_NODE_BUSYBOX ?? '')
  const { registry } = simulator
  const add = (repository: string, entrypoint: string, files: readonly LayerFile[]) => {
    for (const tag of registry.tags(repository) ?? []) {
      registry.addImage(repository, tag, {
        labels: { 'com.dynatrace.build-version': simulator.tenant(tenantId).versions.agent },
        entrypoint: [entrypoint],
        architectures: [process.arch === 'x64' ? 'amd64' : 'arm64'],
        files: () => [folder('bin/'), program(BUSYBOX, busybox), ...files],
      })
    }
  }
  add('linux/oneagent', '/agent', [
    folder('usr/'),
    folder('usr/bin/'),
    folder('tmp/'),
    folder('mnt/'),
    program('agent', ONE_AGENT),
    program('usr/bin/watchdog-healthcheck64', '#!/bin/busybox sh\nexit 0\n'),
  ])
  add('linux/activegate', '/gateway', [
    ...['opt/', 'opt/dynatrace/', 'opt/dynatrace/gateway/'].map(folder),
    // Its init container runs bash -c with the path of this script, which converts certificates.
    program('bin/bash', '#!/bin/busybox sh\nexec "$2"\n'),
    program('opt/dynatrace/gateway/k8scrt2jks.sh', '#!/bin/busybox sh\nexec /bin/busybox touch ssl/converted\n'),
    program('gateway', await readFile(process.env.REEVE_NODE_GATEWAY ?? '')),
  ])
}

function folder(path: string): LayerFile {
  return { path, mode: 0o755, content: Buffer.alloc(0) }
}

function program(path: string, content: string | Buffer): LayerFile {
  return { path, mode: 0o755, content: Buffer.from(content) }
}
