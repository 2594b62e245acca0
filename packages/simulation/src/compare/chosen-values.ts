/**
 * Values that are generated anew in every run: generated names, keys, ports. Two runs with different seeds give them
 * away.
 */
import type { PlainObject } from '../operator-under-test.ts'
import { changedFields } from './difference.ts'
import type { Snapshot } from './snapshot.ts'

/** Objects whose names end in something that was drawn. */
interface NameRule {
  readonly resource: string
  readonly namespace: string
  /** What all their names begin with. */
  readonly prefix: string
}

const SEPARATOR = /[^a-zA-Z0-9]/

/**
 * What is drawn at random in the runs of one operator.
 *
 * Objects with drawn names are matched by their owners and by the rest of their names; references to them by name
 * follows. Fields with drawn values are compared by their being there.
 */
export class ChosenValues {
  /** Nothing is drawn. */
  static readonly none = new ChosenValues([], new Set(), new Map())

  readonly #rules: readonly NameRule[]
  /** Names that are the same in every run, although a rule would match. */
  readonly #fixed: ReadonlySet<string>
  /** By object: most have none. */
  readonly #fields: ReadonlyMap<string, ReadonlySet<string>>

  private constructor(
    rules: readonly NameRule[],
    fixed: ReadonlySet<string>,
    fields: ReadonlyMap<string, ReadonlySet<string>>,
  ) {
    this.#rules = rules
    this.#fixed = fixed
    this.#fields = fields
  }

  /** Learns from the snapshots of two undisturbed runs that differ in nothing but their seeds. */
  static learn(one: readonly Snapshot[], other: readonly Snapshot[]): ChosenValues {
    const rules = new Map<string, NameRule>()
    const fixed = new Set<string>()
    for (const [step, first] of one.entries()) {
      const second = other[step] ?? new Map()
      for (const id of first.keys()) if (second.has(id)) fixed.add(id)
      for (const rule of namesDrawn(first, second)) rules.set(JSON.stringify(rule), rule)
    }
    const named = new ChosenValues([...rules.values()], fixed, new Map())
    const fields = new Map<string, Set<string>>()
    for (const [step, first] of one.entries()) {
      const [left, right] = [named.apply(first), named.apply(other[step] ?? new Map())]
      for (const [id, object] of left) {
        if (!right.has(id)) continue
        const chosen = changedFields(object, right.get(id))
          .filter(({ before, after }) => before !== undefined && after !== undefined)
          .map(({ field }) => field)
        if (chosen.length > 0) fields.set(id, new Set([...(fields.get(id) ?? []), ...chosen]))
      }
    }
    return new ChosenValues([...rules.values()], fixed, fields)
  }

  /** The id of an object with what was drawn left out. */
  idOf(id: string): string {
    const rule = this.#ruleFor(id)
    return rule === undefined ? id : idWith(rule, '<generated>')
  }

  /** The snapshot with what was drawn replaced. */
  apply(snapshot: Snapshot): Snapshot {
    return this.#withoutFields(this.#withoutNames(snapshot))
  }

  #ruleFor(id: string): NameRule | undefined {
    if (this.#rules.length === 0 || this.#fixed.has(id)) return undefined
    const { resource, namespace, name } = partsOf(id)
    return this.#rules.find(
      (rule) => rule.resource === resource && rule.namespace === namespace && name.startsWith(rule.prefix),
    )
  }

  #withoutNames(snapshot: Snapshot): Snapshot {
    const drawn = [...snapshot].flatMap(([id, object]) => {
      const rule = this.#ruleFor(id)
      return rule === undefined ? [] : [{ id, name: partsOf(id).name, rule, content: contentOf(id, object) }]
    })
    if (drawn.length === 0) return snapshot
    // In the order of their contents: which of two was made first may differ between two good runs.
    drawn.sort((one, two) => (one.content < two.content ? -1 : 1))
    const counts = new Map<string, number>()
    const ids = new Map<string, string>()
    const names = new Map<string, string>()
    for (const { id, name, rule } of drawn) {
      const kind = JSON.stringify(rule)
      const count = (counts.get(kind) ?? 0) + 1
      counts.set(kind, count)
      ids.set(id, idWith(rule, `<generated ${count}>`))
      if (name !== rule.prefix) names.set(name, `${rule.prefix}<generated ${count}>`)
    }
    return new Map([...snapshot].map(([id, object]) => [ids.get(id) ?? id, renamed(object, names) as PlainObject]))
  }

  #withoutFields(snapshot: Snapshot): Snapshot {
    if (this.#fields.size === 0) return snapshot
    return new Map(
      [...snapshot].map(([id, object]) => {
        const fields = this.#fields.get(id)
        return [id, fields === undefined ? object : (masked(fields, object, '') as PlainObject)]
      }),
    )
  }
}

/** A value below a field, with what is chosen left out. */
function masked(chosen: ReadonlySet<string>, value: unknown, field: string): unknown {
  if (chosen.has(field)) return '<chosen>'
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item, index) => masked(chosen, item, `${field}[${index}]`))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, masked(chosen, item, field === '' ? name : `${field}.${name}`)]),
  )
}

/**
 * Pairs what only one of the two has, by resource, namespace and owner; where the numbers agree, the names were drawn.
 */
function namesDrawn(one: Snapshot, other: Snapshot): readonly NameRule[] {
  const groups = (snapshot: Snapshot, without: Snapshot) =>
    Map.groupBy(
      [...snapshot].filter(([id]) => !without.has(id)),
      ([id, object]) => groupOf(id, object),
    )
  const [left, right] = [groups(one, other), groups(other, one)]
  return [...left].flatMap(([group, objects]) => {
    const partners = right.get(group) ?? []
    if (partners.length !== objects.length) return []
    const ids = [...objects, ...partners].map(([id]) => partsOf(id))
    const [{ resource, namespace } = { resource: '', namespace: '' }] = ids
    // Objects with different stems are distinguished by them.
    const stems = new Set(ids.map(({ name }) => stemOf(name)))
    const isByStem = [...stems].every((stem) => {
      const count = (of: readonly (readonly [string, PlainObject])[]) =>
        of.filter(([id]) => stemOf(partsOf(id).name) === stem).length
      return count(objects) === count(partners)
    })
    const prefixes = isByStem ? [...stems] : [commonPrefix(ids.map(({ name }) => name))]
    return prefixes.map((prefix) => ({ resource, namespace, prefix }))
  })
}

function groupOf(id: string, object: PlainObject): string {
  const { resource, namespace } = partsOf(id)
  const { ownerReferences = [] } = (object.metadata ?? {}) as { readonly ownerReferences?: unknown }
  return JSON.stringify([resource, namespace, ownerReferences])
}

/** A name up to and with its last separator. */
function stemOf(name: string): string {
  for (let end = name.length; end > 0; end--) if (SEPARATOR.test(name[end - 1] ?? '')) return name.slice(0, end)
  return ''
}

function commonPrefix(names: readonly string[]): string {
  const [first = ''] = names
  let length = first.length
  for (const name of names) while (!name.startsWith(first.slice(0, length))) length--
  return first.slice(0, length)
}

/** What an object says, without its own name. */
function contentOf(id: string, object: PlainObject): string {
  return JSON.stringify(object).replaceAll(partsOf(id).name, '')
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') {
    let text = value
    for (const [name, canonical] of names) if (text.includes(name)) text = text.replaceAll(name, canonical)
    return text
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => renamed(item, names))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, renamed(item, names)]))
}

function partsOf(id: string): { readonly resource: string; readonly namespace: string; readonly name: string } {
  const space = id.indexOf(' ')
  const [resource, key] = [id.slice(0, space), id.slice(space + 1)]
  const slash = resource === 'outside' ? -1 : key.indexOf('/')
  return { resource, namespace: key.slice(0, Math.max(0, slash)), name: key.slice(slash + 1) }
}

function idWith({ resource, namespace, prefix }: NameRule, suffix: string): string {
  return `${resource} ${namespace === '' ? '' : `${namespace}/`}${prefix}${suffix}`
}
