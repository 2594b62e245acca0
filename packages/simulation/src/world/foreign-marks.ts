/** What someone else wrote into objects: it has to survive, and must not count as a difference. */
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import { FOREIGN, FOREIGN_CONDITION } from '../compare/snapshot.ts'
import type { PlainObject } from '../operator-under-test.ts'
import { patchAsSomebody, read, type Target } from './targets.ts'
import type { World } from './world.ts'

interface Mark {
  readonly target: Target
  /** Of the incarnation that was changed. */
  readonly uid: unknown
  readonly fields: readonly { readonly path: readonly string[]; readonly before: unknown; readonly after: unknown }[]
  readonly hasCondition: boolean
}

/** The changes that another client made in one run. */
export class ForeignMarks {
  readonly #marks: Mark[] = []

  /** A label and an annotation, and `edit` if given. False when the object does not exist. */
  async mark(world: World, target: Target, edit: PlainObject = {}): Promise<boolean> {
    const live = read(world, target)
    if (live === undefined) return false
    const value = String(world.elapsedMs)
    const metadata = { labels: { [FOREIGN]: value }, annotations: { [FOREIGN]: value } }
    const fields = leaves(edit).map((path) => ({ path, before: at(live, path), after: at(edit, path) }))
    this.#marks.push({ target, uid: live.metadata.uid, fields, hasCondition: false })
    await patchAsSomebody(world, target, { ...edit, metadata })
    return true
  }

  /** A condition in the status, where the object has room for one. */
  async markStatus(world: World, target: Target): Promise<void> {
    const live = read(world, target)
    if (live === undefined) return
    const lastTransitionTime = new Date(world.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
    const own = { type: FOREIGN_CONDITION, status: 'True', reason: 'Exploration', message: '', lastTransitionTime }
    await patchAsSomebody(world, target, { status: { conditions: [...conditionsOf(live), own] } }, 'status')
    // A schema without conditions drops it again.
    const hasCondition = isMarked(read(world, target))
    this.#marks.push({ target, uid: live.metadata.uid, fields: [], hasCondition })
  }

  /** Which of them are lost although the object is still the same. */
  lost(world: World): readonly string[] {
    return this.#marks.flatMap(({ target, uid, fields, hasCondition }) => {
      const live = read(world, target)
      if (live === undefined || live.metadata.uid !== uid) return []
      const { labels, annotations } = live.metadata
      const isLabelled = labels?.[FOREIGN] !== undefined && annotations?.[FOREIGN] !== undefined
      return [
        ...(isLabelled || hasCondition ? [] : ['its label or annotation']),
        ...(hasCondition && !isMarked(live) ? ['its condition'] : []),
        ...fields
          .filter(({ path, after }) => !isDeepStrictEqual(at(live, path), after))
          .map(({ path }) => path.join('.')),
      ].map((what) => `a write of another client is lost in ${target.resource} ${target.name}: ${what}`)
    })
  }

  /** The object as it would be without the edits. */
  without(resource: string, object: PlainObject): PlainObject {
    const { uid } = object.metadata as { readonly uid?: unknown }
    const own = this.#marks.filter((mark) => mark.target.resource === resource && mark.uid === uid)
    const edits = own.flatMap(({ fields }) => fields)
    return edits.reduce<PlainObject>((plain, { path, before }) => withValue(plain, path, before), object)
  }
}

function conditionsOf(object: KubeObject): readonly { readonly type?: string }[] {
  const { status } = object as KubeObject & { readonly status?: { readonly conditions?: readonly { type?: string }[] } }
  return status?.conditions ?? []
}

function isMarked(object: KubeObject | undefined): boolean {
  return object !== undefined && conditionsOf(object).some(({ type }) => type === FOREIGN_CONDITION)
}

/** Paths of the values in a merge patch. */
export function leaves(patch: PlainObject, above: readonly string[] = []): readonly (readonly string[])[] {
  return Object.entries(patch).flatMap(([name, value]) =>
    isRecord(value) ? leaves(value, [...above, name]) : [[...above, name]],
  )
}

/** The value at a path; `undefined` where the way there ends. */
export function at(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return value
  return isRecord(value) ? at(value[first], rest) : undefined
}

/** `object` with another value at a path; `undefined` removes the field. */
export function withValue(object: PlainObject, [first, ...rest]: readonly string[], value: unknown): PlainObject {
  if (first === undefined) return object
  const { [first]: inner, ...others } = object
  if (rest.length > 0) return { ...object, [first]: withValue(isRecord(inner) ? inner : {}, rest, value) }
  return value === undefined ? others : { ...object, [first]: value }
}
