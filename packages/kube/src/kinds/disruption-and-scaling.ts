/** Disruption budgets, autoscalers and priorities. */
import type { KubeObject } from '../objects.ts'
import type { Condition } from './condition.ts'
import type { IntOrString } from './container.ts'
import type { LabelSelector } from './label-selector.ts'

/** `policy/v1` PodDisruptionBudget. */
export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector
    readonly minAvailable?: IntOrString
    readonly maxUnavailable?: IntOrString
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow'
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly currentHealthy: number
    readonly desiredHealthy: number
    readonly disruptionsAllowed: number
    readonly expectedPods: number
    readonly conditions?: readonly Condition[]
  }
}

/** One metric of an autoscaler; the details depend on `type`. */
export interface MetricSpec {
  readonly type: 'Resource' | 'ContainerResource' | 'Pods' | 'Object' | 'External'
  readonly resource?: {
    readonly name: string
    readonly target: { readonly type: string; readonly averageUtilization?: number; readonly averageValue?: string }
  }
  readonly containerResource?: Readonly<Record<string, unknown>>
  readonly pods?: Readonly<Record<string, unknown>>
  readonly object?: Readonly<Record<string, unknown>>
  readonly external?: Readonly<Record<string, unknown>>
}

/** `autoscaling/v2` HorizontalPodAutoscaler. */
export interface HorizontalPodAutoscaler extends KubeObject {
  readonly spec?: {
    readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string }
    readonly minReplicas?: number
    readonly maxReplicas: number
    readonly metrics?: readonly MetricSpec[]
    readonly behavior?: Readonly<Record<string, unknown>>
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly currentReplicas?: number
    readonly desiredReplicas: number
    readonly lastScaleTime?: string
    readonly conditions?: readonly Condition[]
  }
}

/** `autoscaling/v1` Scale: the object of the `scale` subresource. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly replicas: number; readonly selector?: string }
}

/** `scheduling.k8s.io/v1` PriorityClass. */
export interface PriorityClass extends KubeObject {
  readonly value: number
  readonly globalDefault?: boolean
  readonly description?: string
  readonly preemptionPolicy?: 'PreemptLowerPriority' | 'Never'
}
