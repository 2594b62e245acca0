/** Pods by controller, node, labels and claims. */
import type { ClusterView, Lookup } from './cluster-view.ts'
import { controllerOf, type LabelSelector, namespaceOf } from './kinds/meta.ts'
import type { Pod } from './kinds/pods.ts'
import { labelValue, selects } from './selectors.ts'

/** Lookups shared by all controllers that handle pods. */
export class PodIndex {
  readonly #byController: Lookup<Pod>
  readonly #orphans: Lookup<Pod>
  readonly #byNode: Lookup<Pod>
  readonly #byLabel: Lookup<Pod>
  readonly #byClaim: Lookup<Pod>

  constructor(view: ClusterView) {
    this.#byController = view.lookup<Pod>('pods', (pod) => present(controllerOf(pod)?.uid))
    this.#orphans = view.lookup<Pod>('pods', (pod) => (controllerOf(pod) === undefined ? [namespaceOf(pod)] : []))
    this.#byNode = view.lookup<Pod>('pods', (pod) => present(pod.spec.nodeName))
    this.#byLabel = view.lookup<Pod>('pods', (pod) => [
      namespaceOf(pod),
      ...Object.entries(pod.metadata.labels ?? {}).map(([key, value]) => labelValue(namespaceOf(pod), key, value)),
    ])
    this.#byClaim = view.lookup<Pod>('pods', (pod) => claimsOf(pod).map((claim) => `${namespaceOf(pod)}/${claim}`))
  }

  controlledBy(uid: string): Pod[] {
    return this.#byController.get(uid)
  }

  /** Pods in the namespace that have no controller. */
  orphansIn(namespace: string): Pod[] {
    return this.#orphans.get(namespace)
  }

  onNode(name: string): Pod[] {
    return this.#byNode.get(name)
  }

  /** Pods of the namespace that match the selector. */
  matching(namespace: string, selector: LabelSelector): Pod[] {
    const demanded = Object.entries(selector.matchLabels ?? {})[0]
    const place = demanded === undefined ? namespace : labelValue(namespace, demanded[0], demanded[1])
    return this.#byLabel.get(place).filter((pod) => selects(selector, pod.metadata.labels))
  }

  usingClaim(namespace: string, claim: string): Pod[] {
    return this.#byClaim.get(`${namespace}/${claim}`)
  }
}

/** Names of the PersistentVolumeClaims the pod mounts. */
export function claimsOf(pod: Pod): string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => present(volume.persistentVolumeClaim?.claimName))
}

function present(value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : [value]
}
