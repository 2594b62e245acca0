/** Decides which namespace belongs to which DynaKube. Pure. */
import { changesPods, claimOf, type NamespaceLabels } from '../../../api/dynakube/namespace-claims.ts'
import type { IgnoredNamespacePatterns } from '../../../api/ignored-namespaces.ts'
import type { DynaKube } from '../../../api/latest.ts'

/** On namespaces: the DynaKube whose pods get injected. The webhook looks at it, too. */
export const INSTANCE_LABEL = 'dynakube.internal.dynatrace.com/instance'

/** A namespace whose label is wrong. */
export interface MappingChange {
  readonly name: string
  /** `undefined` takes the label away. */
  readonly instance: string | undefined
}

/** Two DynaKubes want the same namespace. */
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
 * What has to change on namespaces so that each carries the name of the DynaKube that it belongs to.
 *
 * *Errors*: {@link NamespaceConflictError}, {@link NamespaceSelectorError}: nothing is changed then.
 *
 * @example
 * for (const { name, instance } of mapNamespaces(dynakubes, namespaces, patterns)) await relabel(name, instance)
 */
export function mapNamespaces(
  dynakubes: readonly DynaKube[],
  namespaces: readonly NamespaceLabels[],
  patterns: IgnoredNamespacePatterns,
): readonly MappingChange[] {
  const claims = dynakubes.map((dynakube) => claimOf(dynakube, patterns))
  return namespaces.flatMap(({ name, labels }) => {
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
    return instance === labels[INSTANCE_LABEL] ? [] : [{ name, instance }]
  })
}

/**
 * The DynaKubes that have to look when a namespace changes, by name: those that select it, and the one that it is
 * labelled with, which may be gone. All others have nothing to do: among many DynaKubes a look at each would be one for
 * every label that another one sets.
 *
 * *Guarantee*: whenever `mapNamespaces` finds something wrong with the namespace, somebody looks.
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
