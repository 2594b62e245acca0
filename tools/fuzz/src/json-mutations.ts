/** Changes of a JSON input as a value: the text stays valid JSON, so that the code behind the parser is reached. */
import fc, { type Arbitrary } from 'fast-check'
import { type ByteMutation, byteMutations, mutateBytes } from './byte-mutations.ts'
import { HOSTILE_KEYS, jsonValue } from './json-inputs.ts'

/** One change; `at` chooses among all members of the value. */
export type JsonMutation =
  | { readonly kind: 'replace-value'; readonly at: number; readonly value: unknown }
  | { readonly kind: 'remove-member'; readonly at: number }
  | { readonly kind: 'rename-member'; readonly at: number; readonly name: string }
  | { readonly kind: 'repeat-member'; readonly at: number; readonly times: number }
  | { readonly kind: 'move-value'; readonly at: number; readonly from: number }
  | { readonly kind: 'bury'; readonly at: number; readonly depth: number; readonly isList: boolean }
  | { readonly kind: 'edit-text'; readonly at: number; readonly edit: ByteMutation }

/** A placeholder for a value that is nested too deep to be written by recursion. */
const BURIED = /"<buried (list|object) (\d{1,5})>"/g

const at = fc.nat(0xffff)

/** Changes for JSON whose texts are in a language with these words. */
export function jsonMutations(dictionary: readonly string[]): Arbitrary<JsonMutation> {
  const name =
    dictionary.length === 0 ? fc.constantFrom(...HOSTILE_KEYS) : fc.constantFrom(...HOSTILE_KEYS, ...dictionary)
  const value = dictionary.length === 0 ? jsonValue : fc.oneof(jsonValue, fc.constantFrom(...dictionary))
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('replace-value' as const), at, value }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove-member' as const), at }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename-member' as const), at, name }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('repeat-member' as const),
        at,
        times: fc.constantFrom(1, 2, 3, 100, 2_000),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('move-value' as const), at, from: at }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('bury' as const),
        at,
        depth: fc.constantFrom(3, 90, 300, 1_200, 9_000),
        isList: fc.boolean(),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('edit-text' as const), at, edit: byteMutations(dictionary) }),
    },
  )
}

/** Deeper values are left to the mutations of bytes: walking them would overflow the stack of the search itself. */
const MAX_DEPTH = 200

/** Repetition stops here; the target cuts larger inputs anyway. */
const MAX_REPEATED_LENGTH = 128 * 1024

/** Performs the changes on a JSON text; `undefined` when it is not JSON or nested too deep. */
export function mutateJson(text: string, mutations: readonly JsonMutation[], other: Buffer): string | undefined {
  const root = { value: parse(text) }
  if (root.value === undefined || depthOf(text) > MAX_DEPTH) return undefined
  for (const mutation of mutations) mutate(root, mutation, other)
  let buried = 0
  // Every value came from JSON.parse, so that there is always a text.
  return JSON.stringify(root.value ?? null).replace(BURIED, (stub, kind: string, digits: string) => {
    const depth = Number(digits)
    buried += 1
    if (buried > 2) return stub
    if (kind === 'list') return '['.repeat(depth) + ']'.repeat(depth)
    return `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`
  })
}

/** The depth of a JSON text. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const bracket of text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/[[\]{}]/g) ?? []) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    if (depth > deepest) deepest = depth
  }
  return deepest
}

/** A place in the value: its container and the key there. */
interface Slot {
  readonly parent: Record<string, unknown> | unknown[]
  readonly key: string
}

function mutate(root: { value: unknown }, mutation: JsonMutation, other: Buffer): void {
  const slots = slotsIn(root)
  const slot = slots[mutation.at % slots.length]
  if (slot === undefined) return
  const { parent, key } = slot
  switch (mutation.kind) {
    case 'replace-value':
      put(parent, key, structuredClone(mutation.value))
      return
    case 'remove-member':
      remove(parent, key)
      return
    case 'rename-member': {
      const value = get(slot)
      remove(parent, key)
      put(parent, mutation.name, value)
      return
    }
    case 'repeat-member': {
      const value = get(slot)
      const times = Math.min(mutation.times, MAX_REPEATED_LENGTH / JSON.stringify(value).length)
      for (let count = 0; count < times; count += 1) {
        if (Array.isArray(parent)) parent.push(structuredClone(value))
        else if (parent !== root) put(parent, `${key}${count}`, structuredClone(value))
      }
      return
    }
    case 'move-value': {
      const from = slots[mutation.from % slots.length]
      if (from !== undefined) put(parent, key, structuredClone(get(from)))
      return
    }
    case 'bury':
      put(parent, key, `<buried ${mutation.isList ? 'list' : 'object'} ${mutation.depth}>`)
      return
    case 'edit-text': {
      const value = get(slot)
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      put(parent, key, mutateBytes(Buffer.from(text), mutation.edit, other).toString('utf8').slice(0, 0x8000))
    }
  }
}

/** All members, breadth first; the first is the value itself. */
function slotsIn(root: { value: unknown }): readonly Slot[] {
  const slots: Slot[] = [{ parent: root as unknown as Record<string, unknown>, key: 'value' }]
  for (let index = 0; index < slots.length && slots.length < 2_000; index += 1) {
    const slot = slots[index]
    const value = slot === undefined ? undefined : get(slot)
    if (typeof value !== 'object' || value === null) continue
    // Object.keys gives own members only, whatever their names.
    for (const key of Object.keys(value)) slots.push({ parent: value as Record<string, unknown>, key })
  }
  return slots
}

function get({ parent, key }: Slot): unknown {
  return Object.getOwnPropertyDescriptor(parent, key)?.value ?? null
}

function put(parent: object, key: string, value: unknown): void {
  if (Array.isArray(parent) && !/^\d{1,4}$/.test(key)) parent.push(value)
  // Plain assignment of __proto__ would not make a member.
  else Object.defineProperty(parent, key, { value, enumerable: true, writable: true, configurable: true })
}

function remove(parent: object, key: string): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1)
  else Reflect.deleteProperty(parent, key)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Mutations of bytes have changed it, which is an input as well.
    return undefined
  }
}

/** The text without its `index`-th member, `undefined` when it has no such member or is not JSON. */
export function withoutMember(text: string, index: number): string | undefined {
  const root = { value: parse(text) }
  if (root.value === undefined || depthOf(text) > MAX_DEPTH) return undefined
  // The first is the value itself.
  const slot = slotsIn(root)[index + 1]
  if (slot === undefined) return undefined
  remove(slot.parent, slot.key)
  return JSON.stringify(root.value)
}
