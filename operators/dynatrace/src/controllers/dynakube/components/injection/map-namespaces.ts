/** Decides which namespace belongs to which DynaKube. Pure. */
import { changesPods, claimOf, type NamespaceLabels } from '../../../../api/dynakube/namespace-claims.ts'
import type { IgnoredNamespacePatterns } from '../../../../api/ignored-namespaces.ts'
import type { DynaKube } from '../../../../api/latest.ts'

/** On namespaces: the DynaKube that injects their pods. The webhook reads it, too. */
export const INSTANCE_LABEL = 'dynakube.internal.dynatrace.com/instance'

/** Two DynaKubes select the same namespace. */
export class NamespaceConflictError extends Error {
  readonly code = 'NAMESPACE_CONFLICT'
  override readonly name = 'NamespaceConflictError'

  constructor(namespace: string, owners: readonly (string | undefined)[]) {
    super(
      `the namespace ${namespace} would be injected or enriched by ${owners.join(' and ')}; ` +
        'refine their namespaceSelectors so that each namespace matches one',
    )
  }
}

/** A selector that cannot be evaluated. */
export class NamespaceSelectorError extends Error {
  readonly code = 'NAMESPACE_SELECTOR'
  override readonly name = 'NamespaceSelectorError'

  constructor({ metadata }: DynaKube) {
    super(
      `a namespaceSelector of DynaKube ${metadata.name} has an unknown operator, wrong values or too many of them; correct it`,
    )
  }
}

/**
 * The DynaKube that each namespace belongs to, by name. A namespace that belongs to none keeps the name of one that is
 * deleted: that one's reconcile removes it.
 *
 * *Errors*: {@link NamespaceConflictError}, {@link NamespaceSelectorError}: nothing is known then.
 *
 * @example
 * const mine = [...instancesOf(dynakubes, namespaces, patterns)].filter(([, instance]) => instance === name)
 */
export function instancesOf(
  dynakubes: readonly DynaKube[],
  namespaces: readonly NamespaceLabels[],
  patterns: IgnoredNamespacePatterns,
): ReadonlyMap<string, string | undefined> {
  const claims = dynakubes.map((dynakube) => claimOf(dynakube, patterns))
  const instances = namespaces.map(({ name, labels }) => {
    let instance = labels[INSTANCE_LABEL]
    let claimed: DynaKube | undefined
    for (const { owner, isOwner, selects } of claims) {
      const isMatch = selects({ name, labels })
      if (isMatch === undefined) throw new NamespaceSelectorError(owner)
      if (!isMatch) {
        if (instance === owner.metadata.name) instance = undefined
        continue
      }
      if (isOwner && claimed !== undefined) {
        throw new NamespaceConflictError(name, [claimed.metadata.name, owner.metadata.name])
      }
      if (isOwner) claimed = owner
      instance = owner.metadata.name
    }
    return [name, instance] as const
  })
  return new Map(instances)
}

/**
 * The names of the DynaKubes to reconcile when a namespace changes: those that select it, and the one in its label, which
 * may be deleted. Reconciling all of them would cause one reconcile per DynaKube for every label that is set.
 *
 * *Guarantee*: whenever the label of a namespace is wrong, a DynaKube is reconciled.
 *
 * @example
 * for (const name of concernedBy({ name: 'shop', labels }, dynakubes, patterns)) queue.add({ namespace, name })
 */
export function concernedBy(
  namespace: NamespaceLabels,
  dynakubes: readonly DynaKube[],
  patterns: IgnoredNamespacePatterns,
): readonly string[] {
  const selecting = dynakubes
    .filter((dynakube) => changesPods(dynakube) && claimOf(dynakube, patterns).selects(namespace) !== false)
    .map(({ metadata }) => metadata.name ?? '')
  const instance = namespace.labels[INSTANCE_LABEL]
  return [...new Set(instance ? [...selecting, instance] : selecting)]
}
