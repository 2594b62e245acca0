/** Defaults of workloads. */
import { created, type RecordedCase } from '../recorded-case.ts'
import { jobTemplate, podSpec, selector, template } from './parts.ts'
import {
  ControllerRevisions,
  CronJobs,
  DaemonSets,
  Deployments,
  Jobs,
  ReplicaSets,
  ReplicationControllers,
  StatefulSets,
} from './resources.ts'

const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
}

export const workloadDefaults: readonly RecordedCase[] = [
  created('a minimal deployment', Deployments, { spec: { selector, template: template() } }),
  created('a deployment with the strategy Recreate', Deployments, {
    spec: { selector, template: template(), strategy: { type: 'Recreate' }, replicas: 0, paused: false },
  }),
  created('a deployment with an incomplete strategy', Deployments, {
    spec: { selector, template: template(), strategy: { rollingUpdate: { maxSurge: 1 } }, minReadySeconds: 0 },
  }),
  created('a deployment on the host network', Deployments, {
    spec: { selector, template: template({ ...podSpec({ ports: [{ containerPort: 80 }] }), hostNetwork: true }) },
  }),
  created('a deployment with limits and no requests', Deployments, {
    spec: { selector, template: template(podSpec({ resources: { limits: { cpu: '2' } } })) },
  }),
  created('a deployment with a status', Deployments, {
    spec: { selector, template: template() },
    status: { replicas: 3, readyReplicas: 3 },
  }),
  created('a minimal replica set', ReplicaSets, { spec: { selector, template: template() } }),
  created('a replica set without a template', ReplicaSets, { spec: { selector } }),
  created('a minimal replication controller', ReplicationControllers, { spec: { template: template() } }),
  created('a replication controller with a selector', ReplicationControllers, {
    spec: { replicas: 0, selector: { app: 'web' }, template: template() },
  }),
  created('a minimal stateful set', StatefulSets, { spec: { selector, serviceName: 'web', template: template() } }),
  created('a stateful set with claims', StatefulSets, {
    spec: { selector, serviceName: 'web', template: template(), volumeClaimTemplates: [claim] },
  }),
  created('a stateful set with the strategy OnDelete', StatefulSets, {
    spec: {
      selector,
      template: template(),
      updateStrategy: { type: 'OnDelete' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
    },
  }),
  created('a stateful set with a partition', StatefulSets, {
    spec: {
      selector,
      template: template(),
      updateStrategy: { rollingUpdate: { partition: 2 } },
      ordinals: { start: 1 },
    },
  }),
  created('a minimal daemon set', DaemonSets, { spec: { selector, template: template() } }),
  created('a daemon set with the strategy OnDelete', DaemonSets, {
    spec: { selector, template: template(), updateStrategy: { type: 'OnDelete' } },
  }),
  created('a daemon set with surge', DaemonSets, {
    spec: {
      selector,
      template: template(),
      updateStrategy: { rollingUpdate: { maxSurge: '10%', maxUnavailable: 0 } },
    },
  }),
  created('a minimal job', Jobs, { spec: { template: jobTemplate } }),
  created('a work queue job', Jobs, { spec: { template: jobTemplate, parallelism: 3 } }),
  created('a job with completions', Jobs, { spec: { template: jobTemplate, completions: 3 } }),
  created('an indexed job', Jobs, {
    spec: { template: jobTemplate, completions: 2, completionMode: 'Indexed', backoffLimitPerIndex: 1, suspend: true },
  }),
  created('a job with a failure policy', Jobs, {
    spec: {
      template: jobTemplate,
      podFailurePolicy: {
        rules: [
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
          { action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } },
        ],
      },
    },
  }),
  created('a job with its own selector', Jobs, {
    spec: {
      manualSelector: true,
      selector,
      template: { ...template(), spec: { ...podSpec(), restartPolicy: 'OnFailure' } },
    },
  }),
  created('a job whose template has labels', Jobs, {
    spec: { template: { ...jobTemplate, metadata: { labels: { app: 'web' } } } },
  }),
  created('a job with its own labels', Jobs, {
    metadata: { labels: { mine: 'a' } },
    spec: { template: jobTemplate },
  }),
  created('a replication controller without a template', ReplicationControllers, { spec: { selector: { a: 'b' } } }),
  created('a minimal cron job', CronJobs, {
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } },
  }),
  created('a cron job with all fields', CronJobs, {
    spec: {
      schedule: '@daily',
      timeZone: 'Europe/Vienna',
      startingDeadlineSeconds: 10,
      concurrencyPolicy: 'Forbid',
      suspend: true,
      successfulJobsHistoryLimit: 0,
      failedJobsHistoryLimit: 0,
      jobTemplate: { metadata: { labels: { a: 'b' } }, spec: { template: jobTemplate, backoffLimit: 1 } },
    },
  }),
  created('a controller revision', ControllerRevisions, { revision: 1, data: { spec: { a: null } } }),
]
