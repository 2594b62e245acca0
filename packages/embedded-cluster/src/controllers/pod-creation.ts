/** Creates pods from templates in growing batches: if the first is rejected, the other hundred are not attempted. */
import { isNamespaceTerminating } from './control-loop.ts'
import { type ClusterObject, controllerReference, type Draft, type Labels, namespaceOf } from './kinds/meta.ts'
import type { Pod, PodTemplate } from './kinds/pods.ts'

/** Fields that a controller adds to its template. */
export interface PodAdditions {
  /** If absent, the server generates the name. */
  readonly name?: string
  readonly labels?: Labels
  readonly annotations?: Labels
  readonly finalizers?: readonly string[]
}

/** A pod of `owner` made from `template`. */
export function podFromTemplate(owner: ClusterObject, template: PodTemplate, additions: PodAdditions = {}): Draft<Pod> {
  const labels = { ...template.metadata?.labels, ...additions.labels }
  const annotations = { ...template.metadata?.annotations, ...additions.annotations }
  const finalizers = [...(template.metadata?.finalizers ?? []), ...(additions.finalizers ?? [])]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(additions.name === undefined ? { generateName: `${owner.metadata.name}-` } : { name: additions.name }),
      namespace: namespaceOf(owner),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(finalizers.length === 0 ? {} : { finalizers }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: template.spec,
  }
}

/** The result of a batch of writes. */
export interface BatchOutcome {
  readonly done: number
  /** The first failure. Later items were not attempted, except those in progress. */
  readonly error?: unknown
}

/** The maximum number of pods created or deleted in one reconcile. Replicas are numbers of users, up to 2^31. */
export const BURST = 500

/** Runs `action` for each item in batches of 1, 2, 4 and so on, until a batch has a failure. */
export async function slowStart<T>(
  items: readonly T[],
  action: (item: T) => Promise<unknown>,
  signal: AbortSignal,
): Promise<BatchOutcome> {
  const limited = items.slice(0, BURST)
  let done = 0
  for (let size = 1; done < limited.length && !signal.aborted; size *= 2) {
    const results = await Promise.allSettled(limited.slice(done, done + size).map(action))
    const failure = results.find((result) => result.status === 'rejected')
    done += results.filter((result) => result.status === 'fulfilled').length
    if (failure !== undefined) return { done, error: failure.reason }
  }
  return { done }
}

/** The message of a failure to report to the user; a terminating namespace is not one. */
export function failureMessage(error: unknown): string | undefined {
  if (error === undefined || isNamespaceTerminating(error)) return undefined
  return error instanceof Error ? error.message : String(error)
}
