/** What injection into a pod depends on. */
import type { Pod, PodSpec } from '@reeve/kube'
import type { DynaKube } from '../../api/latest.ts'

/** A pod whose shape has been checked. */
export interface InjectablePod extends Pod {
  readonly spec: PodSpec
}

/** The namespace of a pod. */
export interface PodNamespace {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** What does not depend on the pod. */
export interface InjectionSettings {
  /** The image of the init container: that of the webhook itself. */
  readonly image: string
  readonly operatorVersion: string
  readonly hasCsiDriver: boolean
  /** OpenShift assigns user IDs itself. */
  readonly isOpenShift: boolean
}

/** Everything that is known without reading from the API server. */
export interface InjectionInput {
  readonly pod: InjectablePod
  readonly namespace: PodNamespace
  readonly dynakube: DynaKube
  readonly settings: InjectionSettings
}

/** The workload that a pod belongs to. */
export interface Workload {
  /** In lower case, such as `deployment`. */
  readonly kind: string
  readonly name: string
}

/** Whether a Secret is in the namespace of the pod, or why it is not. */
export type SecretCheck = { readonly isPresent: true } | { readonly isPresent: false; readonly problem: string }

/** Objects that are read for a pod, if the decision needs them. */
export interface InjectionFacts {
  /** By the name of the copy in the pod's namespace. */
  readonly secrets: ReadonlyMap<string, SecretCheck>
  /** `undefined` when the lookup failed or was not needed. */
  readonly workload?: Workload
  /** Why the lookup failed. */
  readonly workloadProblem?: string
}

/** The name of a pod known at admission. */
export const displayName = ({ metadata }: Pod): string => metadata.name || metadata.generateName || ''
