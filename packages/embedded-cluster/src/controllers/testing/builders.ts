/** Small objects for tests. */
import type { Draft, Labels } from '../kinds/meta.ts'
import type { Pod, PodSpec, PodTemplate } from '../kinds/pods.ts'
import type { Deployment } from '../kinds/workloads.ts'

/** A template with one container. */
export function podTemplate(
  options: { labels?: Labels; annotations?: Labels; image?: string; spec?: Partial<PodSpec> } = {},
): PodTemplate {
  const { labels = { app: 'web' }, annotations, image = 'web:1', spec } = options
  return {
    metadata: { labels, ...(annotations === undefined ? {} : { annotations }) },
    spec: { containers: [{ name: 'main', image }], restartPolicy: 'Always', ...spec },
  }
}

/** A pod with one container. */
export function pod(
  name: string,
  options: { labels?: Labels; annotations?: Labels; image?: string; spec?: Partial<PodSpec> } = {},
): Draft<Pod> {
  const { metadata, spec } = podTemplate(options)
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name, namespace: 'default' }, spec }
}

/** A Deployment of three pods. */
export function deployment(
  name: string,
  spec: Partial<Deployment['spec']> & { template?: PodTemplate } = {},
): Draft<Deployment> {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: podTemplate({ labels: { app: name } }),
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      ...spec,
    },
  }
}
