/** When the alerts of each operator fire: series of one sample per minute in the notation of promtool, and what follows. */

/** One alert and what makes it fire. */
export interface AlertCase {
  readonly alert: string
  /** Values by series, such as `0+1x60`: starting at 0, one more every minute, for an hour. */
  readonly series: Readonly<Record<string, string>>
  /** The alert fires then. */
  readonly firesAt: string
  /** It does not fire yet, or no more, then. */
  readonly isQuietAt: string
  /** Labels beside those of the rule. @default none */
  readonly labels?: Readonly<Record<string, string>>
}

/** Half of the reconciles fail for forty minutes, then none. */
const failing = (controller: string) => ({
  [`reconcile_total{controller="${controller}"}`]: '0+2x120',
  [`reconcile_errors_total{controller="${controller}"}`]: '0+1x40 40x80',
})

/** A leader that is gone after ten minutes. */
const leaving = (lease: string) => ({
  [`leader_election_master_status{name="${lease}",pod="a"}`]: '1x10 0x50',
  [`leader_election_master_status{name="${lease}",pod="b"}`]: '0x60',
})

/** By operator. */
export const ALERT_CASES: Readonly<Record<string, readonly AlertCase[]>> = {
  webapp: [
    { alert: 'WebAppOperatorDown', series: leaving('webapp-operator'), isQuietAt: '14m', firesAt: '17m' },
    { alert: 'WebAppOperatorErrors', series: failing('webapp'), firesAt: '30m', isQuietAt: '60m' },
    {
      alert: 'WebAppOperatorBacklog',
      series: { 'workqueue_depth{name="webapp",pod="a"}': '150x60', 'workqueue_depth{name="other",pod="a"}': '0x60' },
      isQuietAt: '10m',
      firesAt: '16m',
    },
    {
      alert: 'WebAppOperatorSlow',
      series: {
        'reconcile_duration_seconds_bucket{controller="webapp",le="5"}': '0+90x60',
        'reconcile_duration_seconds_bucket{controller="webapp",le="10"}': '0+100x60',
        'reconcile_duration_seconds_bucket{controller="webapp",le="+Inf"}': '0+100x60',
      },
      isQuietAt: '10m',
      firesAt: '20m',
    },
  ],
  collector: [
    { alert: 'CollectorOperatorDown', series: leaving('collector-operator'), isQuietAt: '14m', firesAt: '17m' },
    { alert: 'CollectorOperatorErrors', series: failing('collector'), firesAt: '30m', isQuietAt: '60m' },
    {
      alert: 'CollectorOperatorBacklog',
      series: { 'workqueue_depth{name="collector"}': '101x60' },
      isQuietAt: '10m',
      firesAt: '16m',
    },
    {
      alert: 'CollectorReleasesDegraded',
      series: { 'collector_releases{state="Degraded"}': '1x40 0x40', 'collector_releases{state="Available"}': '9x80' },
      firesAt: '35m',
      isQuietAt: '45m',
    },
    {
      alert: 'CollectorHelmFailures',
      series: {
        'collector_action_duration_seconds_count{action="install",outcome="failure"}': '0+1x60',
        'collector_action_duration_seconds_count{action="upgrade",outcome="failure"}': '0x60',
        'collector_action_duration_seconds_count{action="upgrade",outcome="success"}': '0+9x60',
      },
      isQuietAt: '5m',
      firesAt: '40m',
      labels: { action: 'install' },
    },
  ],
  dynatrace: [
    { alert: 'DynatraceOperatorDown', series: leaving('dynatrace-operator-lock'), isQuietAt: '14m', firesAt: '17m' },
    { alert: 'DynatraceOperatorErrors', series: failing('edgeconnect-controller'), firesAt: '30m', isQuietAt: '60m' },
    {
      alert: 'DynatraceTenantUnreachable',
      series: {
        'tenant_requests_total{code="<error>"}': '0+6x40 240x60',
        'tenant_requests_total{code="503"}': '0+2x40 80x60',
        'tenant_requests_total{code="200"}': '0+2x100',
      },
      firesAt: '35m',
      isQuietAt: '70m',
    },
    {
      alert: 'DynatraceWebhookErrors',
      series: {
        'controller_runtime_webhook_requests_total{code="500"}': '0+1x40 40x60',
        'controller_runtime_webhook_requests_total{code="200"}': '0+9x100',
      },
      firesAt: '30m',
      isQuietAt: '60m',
    },
    {
      alert: 'DynatraceInjectionFailing',
      series: {
        'dynatrace_webhook_injections_total{result="failed"}': '0+1x40 40x60',
        'dynatrace_webhook_injections_total{result="injected"}': '0+9x100',
      },
      firesAt: '30m',
      isQuietAt: '60m',
    },
    {
      alert: 'DynatraceCodeModuleMissing',
      series: {
        // The second node succeeds in the end, which ends the alert, and the first never does.
        'dynatrace_csi_provisioner_installs_total{instance="node-1",outcome="failed"}': '0+1x100',
        'dynatrace_csi_provisioner_installs_total{instance="node-1",outcome="installed"}': '0x100',
        'dynatrace_csi_provisioner_installs_total{instance="node-2",outcome="failed"}': '0+1x100',
        'dynatrace_csi_provisioner_installs_total{instance="node-2",outcome="installed"}': '0+1x100',
      },
      isQuietAt: '10m',
      firesAt: '40m',
      labels: { instance: 'node-1' },
    },
  ],
}
