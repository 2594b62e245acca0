/** Describes the changes of kinds that every operator creates: workloads, their pods, services. */
import { resource, type Stored } from '@reeve/kube'
import type { Narrated, NarratedKind, Sentence } from './narrator.ts'

const kind = (group: string, name: string, plural: string) =>
  resource<Narrated>({ group, version: 'v1', kind: name, plural, namespaced: true })

/** Objects that exist in every cluster and are not shown. */
const KUBERNETES_SERVICE = 'kubernetes'

function replicas({ spec, status }: Stored<Narrated>): Sentence {
  return availability(status?.availableReplicas ?? 0, spec?.replicas ?? 1)
}

/** Until it has been reconciled, a DaemonSet does not know its nodes. */
function onNodes({ status }: Stored<Narrated>): Sentence | undefined {
  const { desiredNumberScheduled: desired, numberAvailable: available = 0 } = status ?? {}
  return desired ? availability(available, desired) : undefined
}

function availability(available: number, desired: number): Sentence {
  const isThere = available === desired
  return {
    word: isThere ? 'available' : 'waiting',
    colour: isThere ? 'green' : 'yellow',
    detail: `${available} of ${desired} pods available`,
  }
}

/** Pods of stateful sets and daemon sets are counted by these; showing each would hide the rest. */
function pod({ metadata, status }: Stored<Narrated>): Sentence | undefined {
  const isCounted = metadata.ownerReferences?.some(
    (owner) => owner.kind === 'DaemonSet' || owner.kind === 'StatefulSet',
  )
  if (isCounted) return undefined
  const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True')
  return {
    word: isReady ? 'ready' : (status?.phase ?? 'Pending').toLowerCase(),
    colour: isReady ? 'green' : 'yellow',
    detail: metadata.annotations?.['dynakube.dynatrace.com/injected'] === 'true' ? 'injected by Dynatrace' : '',
  }
}

/** Shown in every scene. */
export const COMMON_KINDS: readonly NarratedKind[] = [
  { resource: kind('apps', 'Deployment', 'deployments'), describe: replicas },
  { resource: kind('apps', 'StatefulSet', 'statefulsets'), describe: replicas },
  { resource: kind('apps', 'DaemonSet', 'daemonsets'), describe: onNodes },
  {
    resource: kind('', 'Service', 'services'),
    describe: ({ metadata }) =>
      metadata.name === KUBERNETES_SERVICE ? undefined : { word: 'created', colour: 'green', detail: '' },
  },
  { resource: kind('', 'Pod', 'pods'), describe: pod },
]
