/** What the provisioner counts. */
import type { Metrics } from '@reeve/runtime/metrics'
import type { CodeModule } from './code-module.ts'

/** Metrics of the provisioner. */
export interface ProvisionerMetrics {
  /** Counts an attempt to install by its outcome, and measures its time. */
  measure(method: CodeModule['method'], install: () => Promise<boolean>): Promise<boolean>
  /** Counts agents that were deleted. */
  deleted(count: number): void
}

/** A download of a gigabyte takes minutes. */
const BUCKETS_S = [0.1, 1, 5, 15, 60, 180, 600, 900]

/** Declares the metrics. */
export function provisionerMetrics(metrics: Metrics): ProvisionerMetrics {
  const installs = metrics.counter({
    name: 'dynatrace_csi_provisioner_installs_total',
    help: 'Attempts to make an agent available, by method and outcome.',
    labels: ['method', 'outcome'],
  })
  const seconds = metrics.histogram({
    name: 'dynatrace_csi_provisioner_install_duration_seconds',
    help: 'Time of attempts to make an agent available, by method.',
    labels: ['method'],
    buckets: BUCKETS_S,
  })
  const deletions = metrics.counter({
    name: 'dynatrace_csi_provisioner_deleted_agents_total',
    help: 'Agents that were deleted because nothing uses them.',
  })
  return {
    async measure(method, install) {
      const startMs = performance.now()
      let outcome = 'failed'
      try {
        const isInstalled = await install()
        outcome = isInstalled ? 'installed' : 'pending'
        return isInstalled
      } finally {
        installs.inc({ method, outcome })
        seconds.observe({ method }, (performance.now() - startMs) / 1_000)
      }
    },
    deleted: (count) => deletions.inc({}, count),
  }
}
