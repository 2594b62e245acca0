/** What the API server adds to workloads, so that they can be compared with what was sent. */
import { isRecord, type JsonRecord } from '@reeve/http'
import type { Container, DaemonSet, Deployment, PodSpec, StatefulSet } from '@reeve/kube'

/** A kind that runs pods. */
export type Workload = DaemonSet | Deployment | StatefulSet

/** Defaults by the name of a field, at any path: these fields mean the same everywhere. */
const ANYWHERE: JsonRecord = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  successThreshold: 1,
  scheme: 'HTTP',
  protocol: 'TCP',
  defaultMode: 0o644,
  volumeMode: 'Filesystem',
  revisionHistoryLimit: 10,
  progressDeadlineSeconds: 600,
  creationTimestamp: null,
  // Of an environment variable.
  value: '',
}

const POD: JsonRecord = {
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  terminationGracePeriodSeconds: 30,
  securityContext: {},
}

const SPEC: JsonRecord = {
  serviceName: '',
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
}

/** How pods are replaced when nothing is said about it, by kind. */
const REPLACEMENT: Readonly<Record<string, JsonRecord>> = {
  DaemonSet: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0 } } },
  StatefulSet: { replicas: 1, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } },
  Deployment: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } } },
}

/**
 * A workload without what the API server would have added: the same for one that was sent and for the one that was
 * stored. Names, labels, annotations and everything else that the operator says are left.
 */
export function withoutDefaults({ kind = '', metadata, spec }: Workload): JsonRecord {
  const { template, ...rest } = spec ?? {}
  const { volumeClaimTemplates: claims, ...others } = rest as NonNullable<StatefulSet['spec']>
  const plain = {
    name: metadata.name,
    labels: metadata.labels,
    annotations: metadata.annotations,
    ...without(without(others, SPEC), REPLACEMENT[kind] ?? {}),
    ...(claims && { claims: claims.map((claim) => ({ name: claim.metadata?.name, spec: claim.spec })) }),
    pods: { ...template?.metadata, ...podWithout(template?.spec) },
  }
  return stripped(plain) as JsonRecord
}

function podWithout(pod: PodSpec | undefined): JsonRecord {
  const { serviceAccount: _mirrored, containers = [], initContainers = [], ...rest } = pod ?? {}
  return {
    ...without(rest, POD),
    containers: containers.map(containerWithout),
    initContainers: initContainers.map(containerWithout),
  }
}

const containerWithout = (container: Container): JsonRecord => without(container, { resources: {} })

/** Removes what equals a default, member by member, and members that become empty. */
function without(fields: object, defaults: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const byDefault = defaults[name]
      if (JSON.stringify(value) === JSON.stringify(byDefault)) return []
      if (!isRecord(value) || !isRecord(byDefault)) return [[name, value]]
      const left = without(value, byDefault)
      return Object.keys(left).length === 0 ? [] : [[name, left]]
    }),
  )
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      if (item === ANYWHERE[name] || item === undefined) return []
      // A field of the pod is read in version v1, and a path of the host may be of any type, unless something is said.
      if (name === 'fieldRef' && isRecord(item)) return [[name, without(item, { apiVersion: 'v1' })]]
      if (name === 'hostPath' && isRecord(item)) return [[name, without(item, { type: '' })]]
      return [[name, stripped(item)]]
    }),
  )
}
