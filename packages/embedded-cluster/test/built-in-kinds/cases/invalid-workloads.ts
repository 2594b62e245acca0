/** Invalid workloads, with the errors of the server. */
import { created, type JsonObject, patched, type RecordedCase, replaced } from '../recorded-case.ts'
import { container, jobTemplate, podSpec, selector, template } from './parts.ts'
import {
  CronJobs,
  DaemonSets,
  Deployments,
  Jobs,
  ReplicaSets,
  ReplicationControllers,
  StatefulSets,
} from './resources.ts'

const good = { selector, template: template() }
const other = { matchLabels: { app: 'other' } }
const otherTemplate = { metadata: { labels: { app: 'other' } }, spec: podSpec() }
const deployment = (name: string, fields: JsonObject) =>
  created(`a deployment with ${name}`, Deployments, { spec: { ...good, ...fields } })
const statefulSet = (name: string, fields: JsonObject) =>
  created(`a stateful set with ${name}`, StatefulSets, { spec: { ...good, serviceName: 'web', ...fields } })
const daemonSet = (name: string, fields: JsonObject) =>
  created(`a daemon set with ${name}`, DaemonSets, { spec: { ...good, ...fields } })
const job = (name: string, fields: JsonObject) =>
  created(`a job with ${name}`, Jobs, { spec: { template: jobTemplate, ...fields } })
const cronJob = (name: string, fields: JsonObject) =>
  created(`a cron job with ${name}`, CronJobs, {
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } }, ...fields },
  })
const claim = (fields: JsonObject = {}) => ({
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  ...fields,
})

export const invalidWorkloads: readonly RecordedCase[] = [
  created('a deployment without a spec', Deployments),
  deployment('labels that do not match', { selector: other }),
  deployment('an empty selector', { selector: {} }),
  deployment('an invalid selector', {
    selector: {
      matchLabels: { 'a b': 'c' },
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'b', operator: 'Exists', values: ['c'] },
        { key: 'c', operator: 'Maybe' },
      ],
    },
  }),
  deployment('negative replicas', { replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1 }),
  deployment('a deadline that is too short', { minReadySeconds: 10, progressDeadlineSeconds: 10 }),
  deployment('an unknown strategy', { strategy: { type: 'Sudden' } }),
  deployment('rolling update settings with another strategy', {
    strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } },
  }),
  deployment('a strategy without any budget', { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  deployment('invalid percentages', { strategy: { rollingUpdate: { maxSurge: 'many', maxUnavailable: '101%' } } }),
  deployment('negative numbers', { strategy: { rollingUpdate: { maxSurge: -1, maxUnavailable: '-5%' } } }),
  deployment('a template with another restart policy', {
    template: { ...template(), spec: { ...podSpec(), restartPolicy: 'Never' } },
  }),
  deployment('a deadline for its pods', { template: template({ ...podSpec(), activeDeadlineSeconds: 5 }) }),
  deployment('invalid pods', {
    template: template({ containers: [{ ...container, name: 'A' }], volumes: [{}] }),
  }),
  deployment('an invalid label in its template', {
    template: { metadata: { labels: { app: 'web', x: 'a b' } }, spec: podSpec() },
  }),
  replaced(
    'a changed selector of a deployment',
    Deployments,
    { spec: good },
    { spec: { selector: other, template: otherTemplate } },
  ),
  created('a replica set with labels that do not match', ReplicaSets, {
    spec: { selector: other, template: template() },
  }),
  created('a replica set with negative replicas', ReplicaSets, { spec: { ...good, replicas: -1 } }),
  replaced(
    'a changed selector of a replica set',
    ReplicaSets,
    { spec: good },
    { spec: { selector: other, template: otherTemplate } },
  ),
  created('a replication controller with labels that do not match', ReplicationControllers, {
    spec: { selector: { app: 'other' }, template: template() },
  }),
  created('a replication controller without labels', ReplicationControllers, {
    spec: { template: { spec: podSpec() } },
  }),
  created('a stateful set without a spec', StatefulSets),
  statefulSet('labels that do not match', { selector: other }),
  statefulSet('an unknown policy', { podManagementPolicy: 'Any', updateStrategy: { type: 'Any' } }),
  statefulSet('rolling update settings with OnDelete', {
    updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } },
  }),
  statefulSet('negative numbers', {
    replicas: -1,
    minReadySeconds: -1,
    ordinals: { start: -1 },
    updateStrategy: { rollingUpdate: { partition: -1 } },
  }),
  statefulSet('an unknown retention policy', { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Burn' } }),
  statefulSet('an invalid service name', { serviceName: 'A_B' }),
  statefulSet('a template with another restart policy', {
    template: { ...template(), spec: { ...podSpec(), restartPolicy: 'OnFailure' } },
  }),
  replaced(
    'a changed service of a stateful set',
    StatefulSets,
    { spec: { ...good, serviceName: 'a' } },
    { spec: { ...good, serviceName: 'b' } },
  ),
  replaced(
    'changed claims of a stateful set',
    StatefulSets,
    { spec: { ...good, serviceName: 'a', volumeClaimTemplates: [claim()] } },
    { spec: { ...good, serviceName: 'a', volumeClaimTemplates: [claim({ metadata: { name: 'other' } })] } },
  ),
  replaced(
    'a changed selector of a stateful set',
    StatefulSets,
    { spec: good },
    { spec: { selector: other, template: otherTemplate } },
  ),
  created('a daemon set without a spec', DaemonSets),
  daemonSet('labels that do not match', { selector: other }),
  daemonSet('an unknown strategy', { updateStrategy: { type: 'Sudden' } }),
  daemonSet('a strategy without any budget', { updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  daemonSet('both maxSurge and maxUnavailable', {
    updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
  }),
  daemonSet('a template with another restart policy', {
    template: { ...template(), spec: { ...podSpec(), restartPolicy: 'Never' } },
  }),
  daemonSet('negative numbers', { minReadySeconds: -1, revisionHistoryLimit: -1 }),
  replaced(
    'a changed selector of a daemon set',
    DaemonSets,
    { spec: good },
    { spec: { selector: other, template: otherTemplate } },
  ),
  created('a job without a spec', Jobs),
  job('a template with the restart policy Always', { template: { spec: podSpec() } }),
  job('negative numbers', {
    parallelism: -1,
    completions: -1,
    backoffLimit: -1,
    activeDeadlineSeconds: -1,
    ttlSecondsAfterFinished: -1,
  }),
  job('a selector without manualSelector', { selector }),
  job('its own selector that does not match', { manualSelector: true, selector: other }),
  job('indexed mode without completions', { completionMode: 'Indexed' }),
  job('an unknown completion mode', { completionMode: 'Sometimes', podReplacementPolicy: 'Never' }),
  job('limits per index without indexed mode', { backoffLimitPerIndex: 1, maxFailedIndexes: 1 }),
  job('an invalid failure policy', {
    podFailurePolicy: {
      rules: [{ action: 'Explode' }, { action: 'FailJob', onExitCodes: { operator: 'In', values: [0, 1, 1] } }],
    },
  }),
  patched(
    'a changed template of a job',
    Jobs,
    { spec: { template: jobTemplate } },
    { spec: { template: { spec: { containers: [{ name: 'main', image: 'b' }] } } } },
  ),
  patched('changed completions of a job', Jobs, { spec: { template: jobTemplate } }, { spec: { completions: 5 } }),
  created('a cron job without a spec', CronJobs),
  cronJob('an invalid schedule', { schedule: '61 * * * *' }),
  cronJob('a schedule in words', { schedule: 'every day' }),
  cronJob('a schedule with too many fields', { schedule: '* * * * * *' }),
  cronJob('no schedule', { schedule: '' }),
  cronJob('a time zone in its schedule', { schedule: 'TZ=UTC * * * * *' }),
  cronJob('an unknown time zone', { timeZone: 'Mars/Olympus' }),
  cronJob('an empty time zone', { timeZone: '' }),
  cronJob('an unknown concurrency policy', { concurrencyPolicy: 'Maybe' }),
  cronJob('negative numbers', {
    startingDeadlineSeconds: -1,
    successfulJobsHistoryLimit: -1,
    failedJobsHistoryLimit: -1,
  }),
  cronJob('a template with the restart policy Always', { jobTemplate: { spec: { template: { spec: podSpec() } } } }),
  created('a cron job with a name that is too long', CronJobs, {
    metadata: { name: 'a'.repeat(53) },
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } },
  }),
]
