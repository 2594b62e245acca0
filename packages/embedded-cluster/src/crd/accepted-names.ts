/** Decides which names of a CustomResourceDefinition are still free in its group. */
import type { JsonObject } from '../json.ts'
import type { DefinitionNames } from './definition.ts'

/** The outcome for one definition. */
export interface NameDecision {
  /** What the resource may be called: the names asked for, less those that others have. */
  readonly accepted: DefinitionNames
  /** The last conflict met, absent when every name is accepted. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined
}

/**
 * Decides for a definition that asks for `requested` and holds `held`, beside `others` of the same group. What it
 * holds already stays its own; a name that another holds is not accepted, and whatever it held instead remains.
 */
export function decideNames(
  requested: DefinitionNames,
  held: DefinitionNames,
  others: readonly DefinitionNames[],
): NameDecision {
  const resources = new Set(others.flatMap((names) => [names.plural, names.singular, ...names.shortNames]))
  const kinds = new Set(others.flatMap((names) => [names.kind, names.listKind]))
  let conflict: NameDecision['conflict']
  const choose = (wanted: string, current: string, taken: ReadonlySet<string>, reason: string) => {
    if (wanted === current || !taken.has(wanted)) return wanted
    conflict = { reason, message: `${JSON.stringify(wanted)} is already in use` }
    return current
  }
  const plural = choose(requested.plural, held.plural, resources, 'PluralConflict')
  const singular = choose(requested.singular, held.singular, resources, 'SingularConflict')
  const takenShortNames = requested.shortNames.filter((name) => !held.shortNames.includes(name) && resources.has(name))
  if (takenShortNames.length > 0) {
    const message = takenShortNames.map((name) => `${JSON.stringify(name)} is already in use`).join(', ')
    conflict = { reason: 'ShortNamesConflict', message }
  }
  const shortNames = takenShortNames.length > 0 ? held.shortNames : requested.shortNames
  const kind = choose(requested.kind, held.kind, kinds, 'KindConflict')
  const listKind = choose(requested.listKind, held.listKind, kinds, 'ListKindConflict')
  return { accepted: { plural, singular, shortNames, kind, listKind, categories: requested.categories }, conflict }
}

/** `names` as `status.acceptedNames` shows them. */
export function writeNames(names: DefinitionNames): JsonObject {
  return {
    plural: names.plural,
    ...(names.singular === '' ? {} : { singular: names.singular }),
    ...(names.shortNames.length === 0 ? {} : { shortNames: [...names.shortNames] }),
    kind: names.kind,
    ...(names.listKind === '' ? {} : { listKind: names.listKind }),
    ...(names.categories.length === 0 ? {} : { categories: [...names.categories] }),
  }
}
