/** What the steps of injection share: their results, and how they report them. Pure. */
import type { Container } from '@reeve/kube'
import type { FEATURES, FeatureName } from './annotations.ts'
import type { FeatureFailure } from './decision.ts'
import { exclusion } from './eligibility.ts'
import type { InjectablePod, InjectionFacts, InjectionInput } from './injection-input.ts'
import { mapContainers } from './pod-edits.ts'

/** Why a pod did not get all that it should. */
export interface InjectionFailure extends Omit<FeatureFailure, 'feature'> {
  /** The features that are left out. */
  readonly affects: readonly FeatureName[]
}

/** What a step made of a pod. */
export interface Step {
  readonly pod: InjectablePod
  readonly event?: 'Inject' | 'UpdatePod'
  /** Reverts everything, other steps included. */
  readonly failure?: FeatureFailure
  /** Only this step is left out. */
  readonly shortfall?: InjectionFailure
}

type ResultAnnotations = Pick<(typeof FEATURES)['codeModules'], 'injected' | 'reason'>

/** The annotations of a feature that a pod has. */
export const isInjected = ({ injected, reason }: ResultAnnotations) => ({ [injected]: 'true', [reason]: undefined })

/** The annotations of a feature that a pod does not have, with the reason. */
export const notInjected = ({ injected, reason }: ResultAnnotations, why: string) => ({
  [injected]: 'false',
  [reason]: why,
})

/** Changes the containers that are not excluded. */
export function mapIncluded(
  pod: InjectablePod,
  { pod: original, dynakube }: InjectionInput,
  change: (container: Container) => Container,
): InjectablePod {
  return mapContainers(pod, (container) =>
    exclusion(container, original, dynakube) === undefined ? change(container) : container,
  )
}

/** The first Secret that is missing, and why it is. */
export function missingSecret(names: readonly string[], { secrets }: InjectionFacts) {
  for (const name of names) {
    const check = secrets.get(name)
    if (check?.isPresent === true) continue
    return { name, problem: check?.problem ?? `the Secret ${name} was not looked up` }
  }
  return undefined
}

/** A missing Secret as the reason why features are left out. */
export function secretFailure(
  reason: string,
  { name, problem }: { readonly name: string; readonly problem: string },
  affects: readonly FeatureName[],
): InjectionFailure {
  return { reason, message: problem, decidedBy: `Secret ${name}`, affects }
}
