/** What differs between a cluster before and after: the changes of a plan. */
import { isRecord } from '@reeve/http'
import { type KubeObject, type Service, Services } from '@reeve/kube'
import { type FieldChange, fieldDiff } from './field-diff.ts'
import { KNOWN_AFTER_APPLY } from './placeholders.ts'
import { isOf } from './put-manifests.ts'
import type { ObjectsById } from './scratch-cluster.ts'
import { type Conceal, essence } from './shown-object.ts'

/** The resource, and its component, that an object belongs to. */
export interface Place {
  /** Such as `WebApp shop/web`; absent for what belongs to none. */
  readonly owner?: string
  /** @default components are not distinguished */
  readonly component?: string
}

/** An object that would change. Nothing in it is secret. */
export interface PlannedChange extends Place {
  /** `replace` removes the object and creates it again, because it cannot be changed otherwise. */
  readonly action: 'create' | 'change' | 'replace' | 'remove'
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  /** What would differ, for `change` and `replace`. */
  readonly fields: readonly FieldChange[]
  /** The whole object as it would be, for `create`. */
  readonly manifest?: Readonly<Record<string, unknown>>
}

/** The changes, and how many objects stay as they are. */
export interface Comparison {
  readonly changes: readonly PlannedChange[]
  readonly unchanged: number
}

/** What a comparison covers. */
export interface ComparisonInput {
  readonly before: ObjectsById
  readonly after: ObjectsById
  readonly placeOf: (object: KubeObject) => Place
  /** Whether an object that is unchanged counts. */
  readonly counts: (object: KubeObject) => boolean
  /** Texts that the cluster will choose otherwise, wherever they occur. */
  readonly unknown: readonly string[]
  /** Replaces what must not be shown. */
  readonly conceal: Conceal
  /** Whether a field only reflects that other fields differ, such as a hash of all of them. @default none does */
  readonly isEcho?: (path: string) => boolean
}

/**
 * Compares two states.
 *
 * @example
 * const { changes } = compareStates({ before, after: scratch.objects(), placeOf, counts, unknown: [], conceal })
 */
export function compareStates(input: ComparisonInput): Comparison {
  const { before, after, placeOf, counts, unknown, conceal, isEcho = () => false } = input
  const show = shower(unknown, conceal)
  const changes: PlannedChange[] = []
  let unchanged = 0
  for (const identity of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(identity), after.get(identity)]
    const shown = now ?? old
    if (shown === undefined) continue
    const change = compareObjects(old, now, show, isEcho)
    if (change !== undefined) changes.push({ ...describe(shown), ...placeOf(shown), ...change })
    else if (counts(shown)) unchanged += 1
  }
  return { changes, unchanged }
}

function describe({ apiVersion, kind, metadata }: KubeObject) {
  const { namespace, name = '' } = metadata
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name }
}

function compareObjects(
  old: KubeObject | undefined,
  now: KubeObject | undefined,
  show: Show,
  isEcho: (path: string) => boolean,
): Pick<PlannedChange, 'action' | 'fields' | 'manifest'> | undefined {
  if (now === undefined) return old && { action: 'remove', fields: [] }
  if (old === undefined) {
    const manifest = Object.entries(essence(now)).map(([name, value]) => [name, show(now.kind, name, value)])
    return { action: 'create', fields: [], manifest: Object.fromEntries(manifest) }
  }
  const fields = fieldChanges(old, now, show, isEcho)
  if (old.metadata.uid !== now.metadata.uid) return { action: 'replace', fields }
  return fields.length === 0 ? undefined : { action: 'change', fields }
}

function fieldChanges(
  old: KubeObject,
  now: KubeObject,
  show: Show,
  isEcho: (path: string) => boolean,
): readonly FieldChange[] {
  const changes = fieldDiff(essence(old), essence(now))
  const telling = changes.filter(({ path }) => !isEcho(path))
  return (telling.length > 0 ? telling : changes).map(({ path, before, after }) => ({
    path,
    ...(before !== undefined && { before: show(now.kind, path, before) }),
    ...(after !== undefined && { after: show(now.kind, path, after) }),
  }))
}

type Show = Conceal

function shower(unknown: readonly string[], conceal: Conceal): Show {
  const known = (value: unknown): unknown => {
    if (typeof value === 'string') {
      return unknown.reduce((text, one) => text.replaceAll(one, KNOWN_AFTER_APPLY), value)
    }
    if (Array.isArray(value)) return value.map(known)
    if (!isRecord(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, known(member)]))
  }
  return (kind, path, value) => known(conceal(kind, path, value))
}

/** Addresses of new Services, which also occur in other objects. */
export function newAddresses(before: ObjectsById, after: ObjectsById): readonly string[] {
  return [...after].flatMap(([identity, object]) => {
    if (!isOf(Services, object) || before.has(identity)) return []
    const { spec } = object as Service // by its kind
    return (spec?.clusterIPs ?? []).filter((address) => address !== 'None')
  })
}

/** Orders texts by their code units, the same on every machine. */
export const compareText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)
