/** What admission would say about the resources of a plan, with everything known that the cluster knows. */

import { type ManifestDocument, type ManifestObject, type Manifests, objectsIn, titleOf } from '@reeve/cli/manifests'
import { isRecord } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import type { PlanFinding } from '@reeve/plan'
import { identityOf } from '@reeve/plan'
import { Document } from 'yaml'
import { convertDynaKube } from '../api/conversion/convert.ts'
import { type DynaKube, DynaKubes } from '../api/latest.ts'
import type { Modules } from '../api/validation/modules.ts'
import { apiUrlChange } from '../api/validation/rules/tenant.ts'
import { isOfInterest } from '../plan/manifest-objects.ts'
import { reviewManifests } from './review-manifests.ts'

/** Stands for the file of what the cluster has. */
const CLUSTER = '(cluster)'

/** The objects of files. */
export interface PlanFiles {
  readonly entries: readonly ManifestObject[]
  /** Documents that are not objects, or cannot be planned. */
  readonly findings: readonly PlanFinding[]
}

/** Takes the files apart; objects without a namespace get the one that `kubectl` would give them. */
export function objectsToPlan({ documents, problems }: Manifests, namespace: string): PlanFiles {
  const findings: PlanFinding[] = problems.map((problem) => ({ ...problem, severity: 'error', rule: 'yaml' }))
  const entries: ManifestObject[] = []
  for (const entry of objectsIn(documents)) {
    if (!('object' in entry)) findings.push({ ...entry, severity: 'error', rule: 'yaml' })
    else if (isOfInterest(entry.object)) entries.push({ ...entry, object: inNamespace(entry.object, namespace) })
    else {
      const { file, object, locate } = entry
      const message = 'skipped: the operator does not use it'
      findings.push({ severity: 'note', message, object: titleOf(object), file, ...locate('kind') })
    }
  }
  return { entries, findings }
}

function inNamespace(object: KubeObject, namespace: string): KubeObject {
  const { metadata, kind } = object
  if (kind === 'Namespace' || metadata.namespace !== undefined) return object
  return { ...object, metadata: { ...metadata, namespace } }
}

/** Reviews the objects of files as if they were applied to a cluster with the objects of `state`. */
export async function reviewPlan(
  { entries }: PlanFiles,
  state: readonly KubeObject[],
  modules: Modules,
): Promise<readonly PlanFinding[]> {
  const documents = [
    ...state.filter(isOfInterest).map((object) => documentOf(CLUSTER, object, () => ({ line: 1, column: 1 }))),
    ...entries.map(({ file, object, locate }) => documentOf(file, object, locate)),
  ]
  const { findings } = await reviewManifests({ documents, problems: [] }, modules)
  return [
    ...findings.filter(({ file, severity }) => file !== CLUSTER && severity !== 'note'),
    ...immutableFindings(entries, state),
  ]
}

/** The review reads values and positions only, not the text of the document. */
function documentOf(file: string, value: KubeObject, locate: ManifestDocument['locate']): ManifestDocument {
  return { file, value, locate, document: new Document() }
}

function immutableFindings(entries: readonly ManifestObject[], state: readonly KubeObject[]): readonly PlanFinding[] {
  return entries.flatMap(({ file, object, locate }): readonly PlanFinding[] => {
    const before = state.find((live) => live.kind === DynaKubes.kind && identityOf(live) === identityOf(object))
    if (before === undefined || !isRecord((object as Partial<DynaKube>).spec)) return []
    // Both are DynaKubes with a spec; the review validates it.
    const [old, now] = [before as DynaKube, convertDynaKube(object, DynaKubes.version) as DynaKube]
    const message = apiUrlChange(old, now)
    if (message === undefined) return []
    const rule = 'DK-URL-IMMUTABLE'
    return [{ severity: 'error', object: titleOf(object), rule, message, file, ...locate('spec.apiUrl') }]
  })
}
