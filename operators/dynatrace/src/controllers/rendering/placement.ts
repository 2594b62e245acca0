/** Which nodes pods may run on, unless the user says more. */
import type { Affinity, TopologySpreadConstraint } from '@reeve/kube'

const AMD = ['amd64'] as const
const ALL = ['amd64', 'arm64', 'ppc64le', 's390x'] as const

/**
 * Linux nodes of the architectures that an image is built for. The registry of a tenant has images for amd64
 * only.
 */
export function linuxNodes(architectures: 'amd64' | 'all'): Affinity {
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          {
            matchExpressions: [
              { key: 'kubernetes.io/arch', operator: 'In', values: architectures === 'amd64' ? AMD : ALL },
              { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
            ],
          },
        ],
      },
    },
  }
}

/** The architectures that there are images for, by where the image comes from. */
export function architecturesOf(source: string | undefined): 'amd64' | 'all' {
  return source === 'tenant-registry' || source === 'custom-version' ? 'amd64' : 'all'
}

/** At most one pod per node, and spread over zones where that is possible. */
export function onePerNode(matchLabels: Readonly<Record<string, string>>): readonly TopologySpreadConstraint[] {
  return [
    {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels },
    },
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      nodeTaintsPolicy: 'Honor',
      labelSelector: { matchLabels },
    },
  ]
}
