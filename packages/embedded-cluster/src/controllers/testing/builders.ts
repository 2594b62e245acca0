/** Builders of small objects for tests. */
import type { Draft, Labels } from '../kinds/meta.ts'
import type { Pod, PodSpec, PodTemplate } from '../kinds/pods.ts'
import type { DaemonSet, Deployment, StatefulSet } from '../kinds/workloads.ts'

/** Options of a pod. */
export interface PodOptions {
  readonly labels?: Labels
  readonly annotations?: Labels
  readonly image?: string
  readonly spec?: Partial<PodSpec>
}

/** A template with one container. */
export function podTemplate(options: PodOptions = {}): PodTemplate {
  const { labels = { app: 'web' }, annotations, image = 'web:1', spec } = options
  return {
    metadata: { labels, ...(annotations === undefined ? {} : { annotations }) },
    spec: { containers: [{ name: 'main', image }], restartPolicy: 'Always', ...spec },
  }
}

/** A pod with one container. */
export function pod(name: string, options: PodOptions = {}): Draft<Pod> {
  const { metadata, spec } = podTemplate(options)
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name, namespace: 'default' }, spec }
}

/** A Deployment of three pods. */
export function deployment(name: string, spec: Partial<Deployment['spec']> = {}): Draft<Deployment> {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: podTemplate({ labels: { app: name } }),
      ...spec,
    },
  }
}

/** A StatefulSet of three pods. */
export function statefulSet(name: string, spec: Partial<StatefulSet['spec']> = {}): Draft<StatefulSet> {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: 3,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: podTemplate({ labels: { app: name } }),
      ...spec,
    },
  }
}

/** A DaemonSet on every node. */
export function daemonSet(name: string, spec: Partial<DaemonSet['spec']> = {}): Draft<DaemonSet> {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default' },
    spec: { selector: { matchLabels: { app: name } }, template: podTemplate({ labels: { app: name } }), ...spec },
  }
}
