/** Which namespaces a Collector may target: its own, those that accept it, and, for administrators, those of all tenants. */
import type { Problem } from '@reeve/crd'
import type { Namespace } from '@reeve/kube'
import type { Collector } from '../api/collector.ts'
import { releaseKeyOf } from '../release-key.ts'

/**
 * Annotation of a Namespace with the namespaces whose Collectors it accepts, separated by commas. Users who may write the
 * Namespace decides.
 */
const ALLOW_FROM = 'collector.example.com/allow-from'

/** A longer annotation is ignored as a whole: a truncated list could accept the wrong namespaces. */
const MAX_ANNOTATION_LENGTH = 4_096

/** Namespaces of the cluster itself. */
const SYSTEM_NAMESPACES = ['kube-*']

/** What the administrator decides about targets. */
export interface TenancyRules {
  /** Where the operator itself runs: no Collector may target it. @default unknown */
  readonly operatorNamespace?: string | undefined
  /** Collectors in these may target any namespace of a tenant, and have it created. @default none */
  readonly adminNamespaces?: readonly string[]
  /** Namespaces that no Collector may target, besides `kube-*`; a name that ends in `*` is a prefix. @default none */
  readonly protectedNamespaces?: readonly string[]
}

/** Whether a Collector is in an administrative namespace. */
export function isAdministrative(collector: Collector, { adminNamespaces = [] }: TenancyRules): boolean {
  const { namespace } = collector.metadata
  return namespace !== undefined && adminNamespaces.includes(namespace)
}

/**
 * Why a Collector may not target its namespace; nothing when it may.
 *
 * *Guarantees*: the message is the same for a namespace that does not exist and for one that accepts none, so that it
 * does not reveal which namespaces exist.
 *
 * @param target the Namespace as the cluster has it; `undefined` when it does not exist
 *
 * @example
 * const problem = targetProblem(collector, cache.get(Namespaces, { name: 'acme' }), { adminNamespaces: ['platform'] })
 */
export function targetProblem(
  collector: Collector,
  target: Namespace | undefined,
  rules: TenancyRules,
): Problem | undefined {
  const { namespace: name } = releaseKeyOf(collector.spec)
  const { namespace: own = '' } = collector.metadata
  const refuse = (message: string) => ({ field: 'spec.tenant.reference', message })
  if (isProtected(name, rules)) {
    return refuse(`the namespace "${name}" is protected: no Collector may target it`)
  }
  if (name === own || isAdministrative(collector, rules)) return undefined
  if (target !== undefined && acceptedNamespaces(target).has(own)) return undefined
  return refuse(
    `the namespace "${name}" does not accept Collectors of "${own}": ` +
      `its owner has to add "${own}" to its annotation ${ALLOW_FROM}`,
  )
}

/** The namespaces whose Collectors a Namespace accepts. */
export function acceptedNamespaces({ metadata }: Namespace): ReadonlySet<string> {
  const text = metadata.annotations?.[ALLOW_FROM] ?? ''
  if (text.length > MAX_ANNOTATION_LENGTH) return new Set()
  const names = text.split(',').map((name) => name.trim())
  return new Set(names.filter((name) => name !== ''))
}

function isProtected(name: string, { operatorNamespace, protectedNamespaces = [] }: TenancyRules): boolean {
  const matches = (pattern: string) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
  return name === operatorNamespace || [...SYSTEM_NAMESPACES, ...protectedNamespaces].some(matches)
}
