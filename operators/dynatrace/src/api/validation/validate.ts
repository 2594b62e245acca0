/** Judges DynaKubes and EdgeConnects of any version by one set of rules: those of the stored version. */
import type { Convert } from '@reeve/crd'
import type { KubeObject } from '@reeve/kube'
import { convertDynaKube, convertEdgeConnect } from '../conversion/convert.ts'
import type { DynaKube, EdgeConnect } from '../latest.ts'
import { DYNAKUBE_RULES } from './dynakube-rules.ts'
import { DYNAKUBE_WARNINGS } from './dynakube-warnings.ts'
import { EDGECONNECT_RULES } from './edgeconnect-rules.ts'
import { type Lookups, type LookupsFor, type RuleFinding, runRules } from './rule.ts'
import { apiUrlChange } from './rules/tenant.ts'

/** What admission says. */
export interface Verdict {
  /** Why it is denied, one sentence each; empty when it is allowed. */
  readonly errors: readonly string[]
  /** Shown to the user in either case. */
  readonly warnings: readonly string[]
}

/** What admission says, with the rule behind each sentence. */
export interface Judgement {
  readonly errors: readonly RuleFinding[]
  readonly warnings: readonly RuleFinding[]
}

/**
 * Judges a DynaKube of any version; on updates `before` is what was stored.
 *
 * *Errors*: those of conversion, for a version that is not known.
 */
export async function validateDynaKube(object: KubeObject, lookups: Lookups, before?: KubeObject): Promise<Verdict> {
  return verdict(await judgeDynaKube(object, () => lookups, before))
}

/** Judges an EdgeConnect of any version. */
export async function validateEdgeConnect(object: KubeObject, lookups: Lookups): Promise<Verdict> {
  return verdict(await judgeEdgeConnect(object, () => lookups))
}

/** As {@link validateDynaKube}, for callers that need the rules. */
export async function judgeDynaKube(
  object: KubeObject,
  lookupsFor: LookupsFor,
  before?: KubeObject,
): Promise<Judgement> {
  const old = before && latestDynaKube(before)
  const dynakube = latestDynaKube(object)
  const [errors, warnings] = await Promise.all([
    runRules(DYNAKUBE_RULES, dynakube, lookupsFor),
    runRules(DYNAKUBE_WARNINGS, dynakube, lookupsFor),
  ])
  const change = old && apiUrlChange(old, dynakube)
  return {
    errors: change === undefined ? errors : [...errors, { rule: 'DK-URL-IMMUTABLE', message: change }],
    warnings,
  }
}

/** As {@link validateEdgeConnect}, for callers that need the rules. */
export async function judgeEdgeConnect(object: KubeObject, lookupsFor: LookupsFor): Promise<Judgement> {
  const latest = toLatest<EdgeConnect>(convertEdgeConnect, object, 'v1alpha2', {
    apiServer: '',
    oauth: { clientSecret: '', endpoint: '', resource: '' },
  })
  return { errors: await runRules(EDGECONNECT_RULES, latest, lookupsFor), warnings: [] }
}

function verdict({ errors, warnings }: Judgement): Verdict {
  return { errors: errors.map(({ message }) => message), warnings: warnings.map(({ message }) => message) }
}

const latestDynaKube = (object: KubeObject) => toLatest<DynaKube>(convertDynaKube, object, 'v1beta6', { apiUrl: '' })

/** The schema admits objects without a spec; for the rules, missing parts are empty. */
function toLatest<T extends KubeObject & { readonly spec: object }>(
  convert: Convert,
  object: KubeObject,
  version: string,
  missing: T['spec'],
): T {
  // The converter returns objects of the requested version.
  const latest = convert(object, version) as KubeObject & Partial<Pick<T, 'spec'>>
  return { ...latest, spec: { ...missing, ...latest.spec } } as T
}
