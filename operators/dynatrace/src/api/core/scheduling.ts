/** Where pods may run: tolerations and spreading. */
import { Type } from 'typebox'
import { atomicTextList, int32, int64, list, requiredInt32, requiredText, text, textMap } from '../fields/fields.ts'
import { labelSelector } from './label-selector.ts'

/** Labels a node must have. */
export const nodeSelector = (pods: string) =>
  textMap(`Labels that a node must have for ${pods} to run on it; every node when left out.`)

/** Taints that pods put up with. */
export const tolerations = (pods: string) =>
  list(
    Type.Object({
      key: text('The taint; with operator Exists and no key every taint is tolerated.'),
      operator: text('Equal (the default) compares the value, Exists does not.'),
      value: text('The value of the taint, for Equal.'),
      effect: text('NoSchedule, PreferNoSchedule or NoExecute; every effect when left out.'),
      tolerationSeconds: int64('For NoExecute: seconds until the pod is evicted; never if left out.'),
    }),
    `Taints of nodes that ${pods} put up with, such as those of control planes.`,
  )

/** How pods are spread over the topology. */
export const topologySpreadConstraints = (pods: string) =>
  list(
    Type.Object({
      maxSkew: requiredInt32('By how many pods two domains may differ at most.'),
      topologyKey: requiredText('The node label whose values are the domains, such as topology.kubernetes.io/zone.'),
      whenUnsatisfiable: requiredText('DoNotSchedule leaves a pod pending, ScheduleAnyway only prefers.'),
      labelSelector: labelSelector('The pods that are counted.'),
      matchLabelKeys: atomicTextList('Labels whose values the counted pods share with the new one.'),
      minDomains: int32('How many domains there must be at least.'),
      nodeAffinityPolicy: text('Whether nodes that the pod cannot use because of affinity count: Honor or Ignore.'),
      nodeTaintsPolicy: text('Whether nodes with taints that the pod does not tolerate count: Honor or Ignore.'),
    }),
    `How ${pods} are spread over zones or nodes.`,
  )
