/** Random changes to objects, of the kind that typing errors, templates and hostile clients make. */
import { isRecord } from '@reeve/http'
import fc, { type Arbitrary } from 'fast-check'

/** One change: somewhere in the object, chosen by `at`, something happens with `value`. */
export interface Mutation {
  readonly at: number
  readonly action: 'replace' | 'remove' | 'rename' | 'repeat' | 'add'
  readonly name: string
  readonly value: unknown
}

/** Names that exist somewhere, names that no schema knows, and names that JavaScript knows. */
const NAMES = ['spec', 'apiUrl', 'oneAgent', 'imageRef', 'env', 'name', 'id', 'colour', '', '__proto__', 'constructor']

const values: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53, '', '/', 'a'.repeat(300), 'ü\u0000😀', '%', '((((', [], {}, [[]]),
  fc.string(),
  fc.integer(),
  fc.jsonValue({ maxDepth: 2 }),
  fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom('x', 1, null, {}), { maxKeys: 3 }),
)

/** A few changes together. */
export const mutations: Arbitrary<readonly Mutation[]> = fc.array(
  fc.record({
    at: fc.nat(),
    action: fc.constantFrom('replace', 'remove', 'rename', 'repeat', 'add'),
    name: fc.constantFrom(...NAMES),
    value: values,
  }),
  { minLength: 1, maxLength: 4 },
)

type Container = Record<string, unknown> | unknown[]

/** A changed copy. Kind and version stay, because they decide which code gets the object. */
export function mutate<T extends object>(object: T, changes: readonly Mutation[]): T {
  const copy = structuredClone(object)
  for (const change of changes) {
    const places = placesIn(copy)
    const place = places[change.at % places.length]
    if (place !== undefined) apply(change, place.container, place.key)
  }
  return copy
}

interface Place {
  readonly container: Container
  readonly key: string
}

function placesIn(root: object): readonly Place[] {
  const places: Place[] = []
  const walk = (value: unknown, isRoot: boolean): void => {
    if (!Array.isArray(value) && !isRecord(value)) return
    for (const [key, member] of Object.entries(value)) {
      if (isRoot && (key === 'apiVersion' || key === 'kind')) continue
      // A new copy: it may be changed.
      places.push({ container: value as Container, key })
      walk(member, false)
    }
  }
  walk(root, true)
  return places
}

function apply({ action, name, value: shared }: Mutation, container: Container, key: string): void {
  // A later change must not reach into a value that another object has as well.
  const value = structuredClone(shared)
  const member = Reflect.get(container, key)
  if (action === 'replace') define(container, key, value)
  else if (action === 'remove') remove(container, key)
  else if (action === 'add' && Array.isArray(member)) member.push(value)
  else if (action === 'add' && isRecord(member)) define(member, name, value)
  else if (action === 'repeat' && Array.isArray(container)) container.push(structuredClone(member))
  else if (action === 'repeat') define(container, key, [member, structuredClone(member)])
  else if (action === 'rename') {
    remove(container, key)
    if (Array.isArray(container)) container.push([member])
    else define(container, name, member)
  }
}

function remove(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(Number(key), 1)
  else delete container[key]
}

/** As JSON does it: `__proto__` is a name like any other. */
function define(container: object, key: string, value: unknown): void {
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true })
}
