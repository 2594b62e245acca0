/** The identity of a pod of a StatefulSet: its ordinal, name, host name and claims. */
import { type Draft, namespaceOf } from '../kinds/meta.ts'
import type { Pod, PodTemplate, Volume } from '../kinds/pods.ts'
import type { ControllerRevision, StatefulSet } from '../kinds/workloads.ts'
import { podFromTemplate } from '../pod-creation.ts'
import { templateOf } from '../revision-history.ts'

/** The label with the revision of a pod. */
const REVISION_LABEL = 'controller-revision-hash'

/** The name of the set's pod with that ordinal. */
function podName(set: StatefulSet, ordinal: number): string {
  return `${set.metadata.name}-${ordinal}`
}

/** The ordinal in a pod's name; `undefined` if the name does not belong to the set. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`
  const { name } = pod.metadata
  const suffix = name.startsWith(prefix) ? name.slice(prefix.length) : ''
  return /^\d+$/.test(suffix) ? Number(suffix) : undefined
}

/** The name of the claim for one template and pod. */
function claimName(set: StatefulSet, template: string, ordinal: number): string {
  return `${template}-${podName(set, ordinal)}`
}

/** The pod with that ordinal, created from the revision's template. */
export function podOf(set: StatefulSet, ordinal: number, revision: ControllerRevision): Draft<Pod> {
  const name = podName(set, ordinal)
  const claims = (set.spec.volumeClaimTemplates ?? []).map(
    ({ metadata }): Volume => ({
      name: metadata.name,
      persistentVolumeClaim: { claimName: claimName(set, metadata.name, ordinal) },
    }),
  )
  const claimed = new Set(claims.map((volume) => volume.name))
  const template = templateOf(revision)
  const volumes = [...(template.spec.volumes ?? []).filter((volume) => !claimed.has(volume.name)), ...claims]
  const { serviceName } = set.spec
  const withIdentity: PodTemplate = {
    ...template,
    spec: {
      ...template.spec,
      ...(volumes.length === 0 ? {} : { volumes }),
      hostname: name,
      ...(serviceName === undefined || serviceName === '' ? {} : { subdomain: serviceName }),
    },
  }
  return podFromTemplate(set, withIdentity, {
    name,
    labels: {
      'statefulset.kubernetes.io/pod-name': name,
      'apps.kubernetes.io/pod-index': `${ordinal}`,
      [REVISION_LABEL]: revision.metadata.name,
    },
  })
}

/** The name of the pod's revision. */
export function revisionNameOf(pod: Pod): string | undefined {
  return pod.metadata.labels?.[REVISION_LABEL]
}

/** `namespace/name` of every claim of the pod with that ordinal, with its template. */
export function claimsFor(set: StatefulSet, ordinal: number) {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    template,
    namespace: namespaceOf(set),
    name: claimName(set, template.metadata.name, ordinal),
  }))
}
