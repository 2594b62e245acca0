/** Reviews the objects of one kind in files, for operators that have only one. */
import type { KubeObject } from '@reeve/kube'
import type { Manifests } from './manifest-file.ts'
import { objectsIn, titleOf } from './manifest-object.ts'
import type { Finding, Review } from './review.ts'

/** Something to say about an object. */
export type Remark = Pick<Finding, 'severity' | 'field' | 'message'>

/**
 * Gives every object of a kind to `judge` and adds where in the files its remarks belong. Objects of other kinds are
 * none of its business.
 *
 * *Assumptions*: `judge` bears objects that have nothing of their kind but its name.
 *
 * @example
 * const webapps = { apiVersion: 'example.com/v1', kind: 'WebApp' }
 * const review = reviewKind<WebApp>(manifests, webapps, (webapp) => remarksOn(webapp))
 */
export function reviewKind<T extends KubeObject>(
  { documents, problems }: Manifests,
  { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>,
  judge: (object: T) => readonly Remark[],
): Review {
  const findings: Finding[] = problems.map((problem) => ({ ...problem, severity: 'error' }))
  let checked = 0
  let skipped = 0
  for (const entry of objectsIn(documents)) {
    if (!('object' in entry)) {
      findings.push({ ...entry, severity: 'error' })
    } else if (entry.object.apiVersion === apiVersion && entry.object.kind === kind) {
      checked++
      const { file, object, locate } = entry
      // It claims to be one: whether it is, is for the judge to say.
      const remarks = judge(object as T)
      findings.push(
        ...remarks.map((remark) => ({ file, ...locate(remark.field ?? 'kind'), object: titleOf(object), ...remark })),
      )
    } else skipped++
  }
  return { checked, skipped, findings }
}
