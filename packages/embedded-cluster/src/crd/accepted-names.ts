/** Decides which names of a CustomResourceDefinition are available in its group. */
import type { JsonObject } from '../json.ts'
import type { DefinitionNames } from './definition.ts'

/** The decision for one definition. */
export interface NameDecision {
  /** The accepted names: the requested names, except those that others have. */
  readonly accepted: DefinitionNames
  /** The last conflict found; absent when every name is accepted. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined
}

/**
 * Decides for a definition that requests `requested` and has `held`, beside `others` of the same group. Names that it
 * already has stay accepted; a name that another definition has is not accepted, and the previous one remains.
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

/** `names` in the format of `status.acceptedNames`. */
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
