/** The process that mounts volumes: gRPC for the kubelet of its node, and metrics. */
import { mkdir } from 'node:fs/promises'
import type { Logger } from '@reeve/runtime'
import { HealthServer } from '@reeve/runtime/health'
import type { ServerAddress } from '@reeve/runtime/manager'
import { createMetricsRegistry } from '@reeve/runtime/metrics'
import { DataPaths } from '../data-paths.ts'
import { serveUnix } from '../grpc/unix-server.ts'
import { kernelMounts } from '../mounts/kernel-mounts.ts'
import type { Mounts } from '../mounts/mounts.ts'
import { removeEmptyDirectory } from '../remove-empty-directory.ts'
import { runTogether } from '../run-together.ts'
import { identityService } from './identity-service.ts'
import { nodeService } from './node-service.ts'
import { removeOrphans } from './remove-orphans.ts'

/** Options of {@link runCsiServer}. */
export interface CsiServerOptions {
  readonly socket: string
  readonly nodeId: string
  /** Of the operator: only its pods get the storage of host agents. */
  readonly namespace: string
  readonly dataRoot: string
  readonly maxRequests: number
  readonly version: string
  readonly metricsAddress: ServerAddress
  readonly logger: Logger
  /** @default {@link kernelMounts} */
  readonly mounts?: Mounts
}

/**
 * Serves until `signal` aborts. It needs no access to the API server: what it has to know is in the data directory and in
 * the kernel's table of mounts, so it starts after any crash with the same knowledge.
 *
 * *Guarantees*: without volumes it leaves no directory of volumes behind: it may never run again on this node.
 *
 * *Errors*: if the data directory cannot be made, one of the addresses is taken, or the processor has no build of the
 * native addon.
 */
export async function runCsiServer(options: CsiServerOptions, signal: AbortSignal): Promise<void> {
  const { socket, nodeId, namespace, dataRoot, maxRequests, version, metricsAddress, logger } = options
  await mkdir(dataRoot, { recursive: true, mode: 0o777 })
  const paths = new DataPaths(dataRoot)
  const mounts = options.mounts ?? (await kernelMounts())
  await removeOrphans({ paths, mounts, logger })
  const metrics = await createMetricsRegistry()
  metrics.gauge({
    name: 'dynatrace_csi_driver_memory_usage',
    help: 'Memory usage of the CSI driver in bytes.',
    collect: (gauge) => gauge.set({}, process.memoryUsage().heapUsed),
  })
  const services = {
    'csi.v1.Identity': identityService(version),
    'csi.v1.Node': nodeService({ nodeId, namespace, maxRequests, paths, mounts, logger, now: Date.now }),
  }
  await runTogether(
    [
      (stop) => serveUnix(socket, services, { signal: stop, logger }),
      (stop) => new HealthServer({ ...metricsAddress, metrics, logger }, 'metrics').run(stop),
    ],
    signal,
  )
  await removeEmptyDirectory(paths.appMounts, logger)
}
