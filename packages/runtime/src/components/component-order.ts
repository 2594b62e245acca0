/** Sorts components by their needs, and rejects an invalid list. */
import { RuntimeError } from '../runtime-error.ts'
import type { AnyComponent, Reportable } from './component.ts'

/** A list of components is invalid: a bug in the operator, found when it starts. */
export class InvalidComponentsError extends RuntimeError {
  override readonly name = 'InvalidComponentsError'

  constructor(message: string) {
    super('INVALID_COMPONENTS', message)
  }
}

/**
 * The components in an order in which each comes after all that it needs; otherwise as they are listed.
 *
 * *Errors*: {@link InvalidComponentsError} for two of one name, a need that is not listed, a circle, or a condition that
 * two components claim.
 */
export function inOrderOfNeeds<Primary extends Reportable, Dependencies>(
  components: readonly AnyComponent<Primary, Dependencies>[],
): readonly AnyComponent<Primary, Dependencies>[] {
  requireUnique(
    'component',
    components.map(({ name }) => [name, name]),
  )
  requireUnique(
    'condition',
    components.flatMap(({ name, conditions = [] }) => conditions.map((type) => [type, name])),
  )
  const listed = new Set(components)
  const ordered = new Set<AnyComponent<Primary, Dependencies>>()
  const place = (component: AnyComponent<Primary, Dependencies>, path: readonly string[]) => {
    if (ordered.has(component)) return
    if (path.includes(component.name)) {
      throw new InvalidComponentsError(
        `components depend on each other in a cycle: ${[...path, component.name].join(' → ')}`,
      )
    }
    for (const need of [...(component.needs ?? []), ...(component.after ?? [])]) {
      if (!listed.has(need)) {
        throw new InvalidComponentsError(
          `component "${component.name}" needs "${need.name}", which is not listed; add it to components`,
        )
      }
      place(need, [...path, component.name])
    }
    ordered.add(component)
  }
  for (const component of components) place(component, [])
  return [...ordered]
}

function requireUnique(what: string, entries: readonly (readonly [string, string])[]): void {
  const twice = findDuplicate(entries)
  if (twice === undefined) return
  const { name, owners } = twice
  const where = what === 'component' ? '' : ` (in "${owners[0]}" and "${owners[1]}")`
  throw new InvalidComponentsError(`two components have the ${what} "${name}"${where}; rename one`)
}

/** The first name that occurs twice, and what has it. */
export function findDuplicate(
  entries: Iterable<readonly [name: string, owner: string]>,
): { readonly name: string; readonly owners: readonly [string, string] } | undefined {
  const known = new Map<string, string>()
  for (const [name, owner] of entries) {
    const other = known.get(name)
    if (other !== undefined) return { name, owners: [other, owner] }
    known.set(name, owner)
  }
  return undefined
}
