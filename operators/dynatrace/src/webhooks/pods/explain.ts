/** Says for each container of a pod what it gets and why, in the words of the decision. Pure. */
import type { Container } from '@reeve/kube'
import { CONTAINER_CONFIG_PATH } from '../../injection-contract/paths.ts'
import type { FeatureName } from './annotations.ts'
import { hasCodeModules, installPathOf, mountInTheWay } from './code-modules.ts'
import { CONFIG_VOLUME } from './config-mounts.ts'
import type { Decision } from './decision.ts'
import { exclusion } from './eligibility.ts'
import { exporterObstacle } from './exporter.ts'
import { displayName, type InjectionInput } from './injection-input.ts'
import type { InjectionFailure } from './injection-step.ts'
import type { InjectionResult } from './mutate-pod.ts'
import { mountsAt } from './pod-edits.ts'
import { no, type Verdict, yes } from './verdict.ts'

/** A verdict for each feature. */
export type Verdicts = Readonly<Record<FeatureName, Verdict>>

/** What a container gets. */
export interface ContainerExplanation {
  readonly name: string
  readonly type: 'container' | 'init container' | 'sidecar' | 'ephemeral container'
  readonly verdicts: Verdicts
}

/** What a pod gets. */
export interface Explanation {
  readonly namespace: string
  readonly pod: string
  readonly outcome: InjectionResult['outcome']
  readonly features: Verdicts
  readonly containers: readonly ContainerExplanation[]
  readonly failures: readonly InjectionFailure[]
}

/** Explains a result. */
export function explain(input: InjectionInput, decision: Decision, result: InjectionResult): Explanation {
  const { pod, namespace } = input
  const features = each((feature) => featureVerdict(feature, decision, result))
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec
  const untouched = (type: ContainerExplanation['type'], field: string) => {
    const verdict = no('only the containers of a pod are injected', `Pod ${field}`)
    return ({ name }: Container): ContainerExplanation => ({ name, type, verdicts: each(() => verdict) })
  }
  return {
    namespace: namespace.name,
    pod: displayName(pod),
    outcome: result.outcome,
    features,
    failures: result.failures,
    containers: [
      ...containers.map((container) => ({
        name: container.name,
        type: 'container' as const,
        verdicts: each((feature) => containerVerdict(feature, container, features[feature], input)),
      })),
      ...initContainers.map((container) => {
        const type = container.restartPolicy === 'Always' ? 'sidecar' : 'init container'
        return untouched(type, 'spec.initContainers')(container)
      }),
      ...ephemeralContainers.map(untouched('ephemeral container', 'spec.ephemeralContainers')),
    ],
  }
}

const each = (verdict: (feature: FeatureName) => Verdict): Verdicts => ({
  codeModules: verdict('codeModules'),
  enrichment: verdict('enrichment'),
  exporter: verdict('exporter'),
})

function featureVerdict(feature: FeatureName, decision: Decision, { failures }: InjectionResult): Verdict {
  if (decision.skipped !== undefined) return decision.skipped
  const verdict = decision[feature]
  if (!verdict.isOn) return verdict
  const failure = failures.find(({ affects }) => affects.includes(feature))
  return failure === undefined ? verdict : no(`${failure.message} (${failure.reason})`, failure.decidedBy)
}

function containerVerdict(feature: FeatureName, container: Container, ofPod: Verdict, input: InjectionInput): Verdict {
  const excluded = exclusion(container, input.pod, input.dynakube)
  if (excluded !== undefined || !ofPod.isOn) return excluded ?? ofPod
  return SPECIAL_CASES[feature](container, input) ?? ofPod
}

/** What is different about a container in a pod that gets the feature. */
const SPECIAL_CASES: Readonly<
  Record<FeatureName, (container: Container, input: InjectionInput) => Verdict | undefined>
> = {
  codeModules(container, { pod }) {
    if (hasCodeModules(container))
      return yes('the container has the code modules already', mountField(container, installPathOf(pod)))
    const mount = mountInTheWay(container, pod)
    if (mount === undefined) return undefined
    return no(
      `the container mounts ${mount.name} where the code modules belong`,
      mountField(container, mount.mountPath),
    )
  },
  enrichment(container) {
    const mount = mountsAt(container, CONTAINER_CONFIG_PATH)
    if (mount === undefined) return undefined
    const field = mountField(container, CONTAINER_CONFIG_PATH)
    if (mount.name === CONFIG_VOLUME) return yes('the container has the files already', field)
    return no(`the container mounts ${mount.name} at ${CONTAINER_CONFIG_PATH}`, field)
  },
  exporter: (container, { dynakube }) => exporterObstacle(container, dynakube),
}

const mountField = ({ name }: Container, path: string): string =>
  `Pod spec.containers[name=${name}].volumeMounts[mountPath=${path}]`
