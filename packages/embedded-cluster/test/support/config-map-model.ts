/** The expected content of a namespace of ConfigMaps after a history of writes: a minimal model of the server. */

/** A write. There are few names, keys and managers, so that histories often hit the same object. */
export type Write =
  | { readonly verb: 'create'; readonly name: string; readonly data: Data; readonly label: string }
  | {
      readonly verb: 'update'
      readonly name: string
      readonly data: Data
      readonly label: string
      readonly version: Version
    }
  | { readonly verb: 'patch'; readonly name: string; readonly key: string; readonly value: string | null }
  | {
      readonly verb: 'apply'
      readonly name: string
      readonly data: Data
      readonly manager: string
      readonly force: boolean
    }
  | { readonly verb: 'delete'; readonly name: string; readonly version: Version }

/** The content of a ConfigMap. */
export type Data = Readonly<Record<string, string>>

/** The resourceVersion of a write. */
export type Version = 'none' | 'current' | 'stale'

/** The expected result of a write: the status of its response, and whether the object gets a new version. */
export interface Expectation {
  readonly status: number
  readonly isChanged: boolean
}

/** An object of the model. */
export interface ModelObject {
  readonly data: Data
  readonly label: string | undefined
  /** The keys of `data` that each manager owns; a manager is identified by its name and operation. */
  readonly owners: ReadonlyMap<string, ReadonlySet<string>>
  readonly isLabelOwned: boolean
}

/** The manager of writes other than applies. */
const UPDATER = 'test Update'

/** Owns fields without an owner at the first apply. */
const BEFORE_FIRST_APPLY = 'before-first-apply Update'

const REFUSED = { isChanged: false }

/** Objects by name. */
export class ConfigMapModel {
  readonly objects = new Map<string, ModelObject>()

  /** Performs a write and returns the expected response. */
  write(write: Write): Expectation {
    const live = this.objects.get(write.name)
    switch (write.verb) {
      case 'create':
        if (live !== undefined) return { status: 409, ...REFUSED }
        return this.#store(201, write.name, undefined, updated(undefined, write.data, write.label))
      case 'update':
        if (live === undefined) return { status: 404, ...REFUSED }
        if (write.version === 'stale') return { status: 409, ...REFUSED }
        return this.#store(200, write.name, live, updated(live, write.data, write.label))
      case 'patch': {
        if (live === undefined) return { status: 404, ...REFUSED }
        const { [write.key]: _, ...rest } = live.data
        const data = write.value === null ? rest : { ...rest, [write.key]: write.value }
        return this.#store(200, write.name, live, updated(live, data, live.label))
      }
      case 'apply': {
        const result = applied(live, write.data, `${write.manager} Apply`, write.force)
        if (result === undefined) return { status: 409, ...REFUSED }
        return this.#store(live === undefined ? 201 : 200, write.name, live, result)
      }
      case 'delete':
        if (live === undefined) return { status: 404, ...REFUSED }
        if (write.version === 'stale') return { status: 409, ...REFUSED }
        this.objects.delete(write.name)
        return { status: 200, isChanged: true }
    }
  }

  #store(status: number, name: string, live: ModelObject | undefined, next: ModelObject): Expectation {
    this.objects.set(name, next)
    return { status, isChanged: live === undefined || describe(live) !== describe(next) }
  }
}

/** Once no field of an object is owned anymore, ownership is not recorded until the next apply. */
const isTracked = ({ owners, isLabelOwned }: ModelObject): boolean => owners.size > 0 || isLabelOwned

/** A manager that changes a value owns it exclusively; removed values have no owner. */
function updated(live: ModelObject | undefined, data: Data, label: string | undefined): ModelObject {
  if (live !== undefined && !isTracked(live)) return { data, label, owners: new Map(), isLabelOwned: false }
  const changed = new Set(Object.keys(data).filter((key) => live?.data[key] !== data[key]))
  const owners = new Map<string, ReadonlySet<string>>()
  for (const [manager, keys] of live?.owners ?? []) {
    owners.set(manager, new Set([...keys].filter((key) => key in data && (manager === UPDATER || !changed.has(key)))))
  }
  owners.set(UPDATER, new Set([...(owners.get(UPDATER) ?? []), ...changed]))
  const isLabelOwned = label !== undefined && (live === undefined || label !== live.label || live.isLabelOwned)
  return { data, label, owners: withoutIdle(owners), isLabelOwned }
}

/** The object before its first apply. */
function beforeApply(live: ModelObject): ModelObject {
  if (isTracked(live)) return live
  const owners = new Map([[BEFORE_FIRST_APPLY, new Set(Object.keys(live.data))]])
  return { ...live, owners: withoutIdle(owners), isLabelOwned: live.label !== undefined }
}

/** `undefined` on a conflict: another manager owns a key with another value. */
function applied(found: ModelObject | undefined, stated: Data, self: string, force: boolean): ModelObject | undefined {
  const live = found && beforeApply(found)
  const others = [...(live?.owners ?? [])].filter(([manager]) => manager !== self)
  const isTaken = (key: string) => live?.data[key] !== stated[key] && others.some(([, keys]) => keys.has(key))
  const taken = new Set(Object.keys(stated).filter(isTaken))
  if (taken.size > 0 && !force) return undefined
  const owners = new Map<string, ReadonlySet<string>>(
    others.map(([manager, keys]) => [manager, new Set([...keys].filter((key) => !taken.has(key)))]),
  )
  owners.set(self, new Set(Object.keys(stated)))
  const kept = Object.entries(live?.data ?? {}).filter(([key]) => [...owners.values()].some((keys) => keys.has(key)))
  const data = { ...Object.fromEntries(kept), ...stated }
  return { data, label: live?.label, owners: withoutIdle(owners), isLabelOwned: live?.isLabelOwned ?? false }
}

function withoutIdle(owners: ReadonlyMap<string, ReadonlySet<string>>): Map<string, ReadonlySet<string>> {
  return new Map([...owners].filter(([, keys]) => keys.size > 0))
}

function describe({ data, label, owners, isLabelOwned }: ModelObject): string {
  const sorted = [...owners].map(([manager, keys]) => [manager, [...keys].sort()]).sort()
  return JSON.stringify([Object.entries(data).sort(), label, sorted, isLabelOwned])
}
