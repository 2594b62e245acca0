/** StatefulSets of interchangeable pods, which the user may label and annotate. */
import type { PodSpec, StatefulSet } from '@reeve/kube'
import type { LabelSet } from './labels.ts'

/** What the pods of a set are made from. */
export interface InterchangeablePods {
  readonly labels: LabelSet
  /** What the user adds. */
  readonly template:
    | { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> }
    | undefined
  /** Annotations whose change restarts the pods. */
  readonly hashes: Readonly<Record<string, string>>
  readonly replicas: number
  readonly spec: PodSpec
}

/**
 * The spec of a set whose pods start and stop in any order.
 *
 * @example
 * spec: interchangeable({ labels, template, hashes, replicas: 1, spec: podSpec(input) })
 */
export function interchangeable(pods: InterchangeablePods): NonNullable<StatefulSet['spec']> {
  const { labels, template, hashes, replicas, spec } = pods
  return {
    replicas,
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    selector: { matchLabels: labels.match },
    template: {
      metadata: {
        labels: { ...template?.labels, ...labels.all },
        annotations: { ...template?.annotations, ...hashes },
      },
      spec,
    },
  }
}
