/** What an admission rule is, and how a table of them is run. */
import {
  ApiError,
  BadResponseError,
  ConnectionError,
  CredentialsError,
  DeadlineExceededError,
  type KubeObject,
} from '@reeve/kube'
import type { NamespaceLabels } from '../dynakube/namespace-claims.ts'
import type { ReadSecret } from '../dynakube/proxy.ts'
import type { IgnoredNamespacePatterns } from '../ignored-namespaces.ts'
import type { DynaKube } from '../latest.ts'
import type { Modules } from './modules.ts'

/** What rules may look up. Each rejects if the cluster cannot be reached; the rule decides what that means. */
export interface Lookups {
  readonly modules: Modules
  /** Outlives a review: patterns are compiled once. */
  readonly ignoredNamespaces: IgnoredNamespacePatterns
  /** In the namespace of the object. */
  readonly readSecret: ReadSecret
  /** All DynaKubes in the namespace of the object, in the stored version. */
  readonly listDynaKubes: () => Promise<readonly DynaKube[]>
  readonly listNamespaces: () => Promise<readonly NamespaceLabels[]>
  /** Whether the API server serves the resources of Istio. */
  readonly hasIstio: () => Promise<boolean>
}

/** The finding of a rule: a sentence that names the field, the value, why and what to do; `undefined` for none. */
export type Finding = string | undefined

/** One rule. */
export interface Rule<T extends KubeObject> {
  /** Stable, for logs and tests. */
  readonly id: string
  readonly check: (object: T, lookups: Lookups) => Finding | Promise<Finding>
}

/** What a rule found. */
export interface RuleFinding {
  /** The rule's {@link Rule.id}. */
  readonly rule: string
  readonly message: string
}

/** Gives a rule its look-ups; most callers have the same for all. */
export type LookupsFor = (rule: string) => Lookups

/** Runs all rules and returns the findings in the order of the table: one mistake does not hide another. */
export async function runRules<T extends KubeObject>(
  rules: readonly Rule<T>[],
  object: T,
  lookupsFor: LookupsFor,
): Promise<readonly RuleFinding[]> {
  const findings: Finding[] = []
  // Few rules look something up: promises for all of them would be most of the work of a review.
  const pending: Promise<void>[] = []
  for (const [index, { id, check }] of rules.entries()) {
    const found = attempt(() => check(object, lookupsFor(id)))
    const keep = (finding: Finding) => {
      findings[index] = finding
    }
    if (found instanceof Promise) pending.push(found.then(keep))
    else keep(found)
  }
  await Promise.all(pending)
  return rules.flatMap(({ id }, index) => {
    const message = findings[index]
    return message === undefined ? [] : [{ rule: id, message }]
  })
}

/** A rule that throws must not leave the look-ups of others to fail without anybody waiting for them. */
function attempt(check: () => Finding | Promise<Finding>): Finding | Promise<Finding> {
  try {
    return check()
  } catch (error) {
    return Promise.reject(error)
  }
}

/** One denial for all findings, numbered. */
export function denialText(kind: string, findings: readonly string[]): string {
  const header = `\n${findings.length} error${findings.length === 1 ? '' : 's'} found in the ${kind}`
  return [header, ...findings.map((finding, index) => ` ${index + 1}. ${finding}`)].join('\n')
}

/** The other DynaKubes of the namespace. */
export async function otherDynaKubes(dynakube: DynaKube, lookups: Lookups): Promise<readonly DynaKube[]> {
  const all = await lookups.listDynaKubes()
  return all.filter(({ metadata }) => metadata.name !== dynakube.metadata.name)
}

/**
 * For rules that pass when the cluster cannot be reached: admission must not depend on more than it needs. Anything else
 * that fails is a bug and is not hidden.
 */
export async function unlessUnreachable(check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    // The look-up reports its own failures; without its result there is nothing to reject.
    if (isUnanswered(error)) return undefined
    throw error
  }
}

function isUnanswered(error: unknown): boolean {
  return [ApiError, ConnectionError, DeadlineExceededError, BadResponseError, CredentialsError].some(
    (kind) => error instanceof kind,
  )
}
