/** What differs between a cluster before and after: the changes of a plan. */
import { isRecord, type KubeObject, type Service, Services } from '@reeve/kube'
import type { Place, Places } from './components-of.ts'
import { conceal, essence, isEcho } from './conceal.ts'
import { type FieldChange, fieldDiff } from './field-diff.ts'
import { KNOWN_AFTER_APPLY } from './placeholders.ts'
import type { ObjectsById } from './scratch-cluster.ts'

/** An object that would change. Nothing in it is secret. */
export interface PlannedChange extends Place {
  /** `replace` removes the object and creates it anew, because it cannot be changed otherwise. */
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

/** What a comparison looks at. */
export interface ComparisonInput {
  readonly before: ObjectsById
  readonly after: ObjectsById
  readonly places: Places
  /** Whether an object that stays as it is counts. */
  readonly counts: (object: KubeObject) => boolean
  /** Texts that the cluster will choose otherwise, wherever they turn up. */
  readonly unknown: readonly string[]
}

/**
 * Compares two states.
 *
 * @example
 * const { changes } = compareStates({ before, after: scratch.objects(), places, counts: () => true, unknown: [] })
 */
export function compareStates({ before, after, places, counts, unknown }: ComparisonInput): Comparison {
  const show = shower(unknown)
  const changes: PlannedChange[] = []
  let unchanged = 0
  for (const identity of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(identity), after.get(identity)]
    const shown = now ?? old
    if (shown === undefined) continue
    const change = compareObjects(old, now, show)
    if (change !== undefined) changes.push({ ...describe(shown), ...places.of(shown), ...change })
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
): Pick<PlannedChange, 'action' | 'fields' | 'manifest'> | undefined {
  if (now === undefined) return old && { action: 'remove', fields: [] }
  if (old === undefined) {
    const manifest = Object.entries(essence(now)).map(([name, value]) => [name, show(now.kind, name, value)])
    return { action: 'create', fields: [], manifest: Object.fromEntries(manifest) }
  }
  const fields = fieldChanges(old, now, show)
  if (old.metadata.uid !== now.metadata.uid) return { action: 'replace', fields }
  return fields.length === 0 ? undefined : { action: 'change', fields }
}

function fieldChanges(old: KubeObject, now: KubeObject, show: Show): readonly FieldChange[] {
  const changes = fieldDiff(essence(old), essence(now))
  const telling = changes.filter(({ path }) => !isEcho(path))
  return (telling.length > 0 ? telling : changes).map(({ path, before, after }) => ({
    path,
    ...(before !== undefined && { before: show(now.kind, path, before) }),
    ...(after !== undefined && { after: show(now.kind, path, after) }),
  }))
}

/** A value of an object of a kind as it may be shown. */
type Show = (kind: string, path: string, value: unknown) => unknown

function shower(unknown: readonly string[]): Show {
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

/** Addresses of Services that are new. They turn up in other objects, too. */
export function newAddresses(before: ObjectsById, after: ObjectsById): readonly string[] {
  return [...after].flatMap(([identity, object]) => {
    if (object.kind !== Services.kind || before.has(identity)) return []
    const { spec } = object as Service // its kind says so
    return (spec?.clusterIPs ?? []).filter((address) => address !== 'None')
  })
}
