/** What `kubectl apply` makes of a live object and a file: fields that neither the file nor its last version had are kept. */
import { isRecord, type JsonRecord } from '@reeve/http'
import { groupOf, isBuiltInGroup, type KubeObject, type ObjectMeta } from '@reeve/kube'

/** Where kubectl keeps the configuration that it applied last. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Lists of built-in kinds that are merged item by item, and what identifies an item. All others are replaced. */
const LIST_KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  env: ['name'],
  ephemeralContainers: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ports: ['containerPort', 'port'],
  resourceClaims: ['name'],
  secrets: ['name'],
  topologySpreadConstraints: ['topologyKey'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
  webhooks: ['name'],
}

/** The metadata that belongs to users. */
const METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const

/**
 * The live object with the file applied.
 *
 * @param last the file from which the live object was made, see {@link lastApplied}
 *
 * @example
 * applied(live, file, lastApplied(live))
 */
export function applied(live: KubeObject, file: KubeObject, last: KubeObject | undefined): KubeObject {
  const merge = isBuiltInGroup(groupOf(file.apiVersion)) ? mergeLists : replaceLists
  const content = (object: KubeObject | undefined) => {
    const {
      apiVersion: _version,
      kind: _kind,
      metadata: _metadata,
      status: _status,
      ...rest
    } = { ...object } as KubeObject & { readonly status?: unknown }
    return rest as JsonRecord
  }
  const { status } = live as { readonly status?: unknown }
  const meta = (object: KubeObject | undefined): JsonRecord =>
    Object.fromEntries(
      METADATA.flatMap((field) => (object?.metadata?.[field] ? [[field, object.metadata[field]]] : [])),
    )
  const {
    managedFields: _owners,
    labels: _l,
    annotations: _a,
    finalizers: _f,
    ownerReferences: _o,
    ...rest
  } = live.metadata
  const metadata = { ...rest, ...mergeRecords(meta(live), meta(file), meta(last), merge) } as ObjectMeta
  const { apiVersion, kind } = file
  return {
    ...{ apiVersion, kind, metadata, ...mergeRecords(content(live), content(file), content(last), merge) },
    ...(status !== undefined && { status }),
  }
}

/** The file from which an object was made; `undefined` when kubectl did not make it. */
export function lastApplied({ metadata }: KubeObject): KubeObject | undefined {
  try {
    const value: unknown = JSON.parse(metadata.annotations?.[LAST_APPLIED] ?? 'null')
    return isRecord(value) ? (value as unknown as KubeObject) : undefined
  } catch {
    // Not written by kubectl: nothing is known to have been removed from the file.
    return undefined
  }
}

type MergeLists = (
  name: string,
  live: readonly unknown[],
  file: readonly unknown[],
  last: unknown,
) => readonly unknown[]

function mergeRecords(live: JsonRecord, file: JsonRecord, last: JsonRecord, lists: MergeLists): JsonRecord {
  const kept = Object.entries(live).filter(([name]) => !Object.hasOwn(file, name) && !Object.hasOwn(last, name))
  const given = Object.entries(file).map(([name, value]) => {
    const [now, before] = [own(live, name), own(last, name)]
    if (isRecord(value)) return [name, mergeRecords(record(now), value, record(before), lists)]
    if (Array.isArray(value) && Array.isArray(now)) return [name, lists(name, now, value, before)]
    return [name, value]
  })
  return Object.fromEntries([...kept, ...given])
}

const replaceLists: MergeLists = (_name, _live, file) => file

const mergeLists: MergeLists = (name, live, file, last) => {
  const items = [...live, ...file]
  const key = (Object.hasOwn(LIST_KEYS, name) ? LIST_KEYS[name] : undefined)?.find((candidate) =>
    items.every((item) => own(record(item), candidate) !== undefined),
  )
  if (key === undefined) return file
  const idOf = (item: unknown) => own(record(item), key)
  const find = (list: unknown, id: unknown) =>
    Array.isArray(list) ? list.find((item: unknown) => idOf(item) === id) : undefined
  const given = file.map((item) =>
    mergeRecords(record(find(live, idOf(item))), record(item), record(find(last, idOf(item))), mergeLists),
  )
  const others = live.filter((item) => [file, last].every((list) => find(list, idOf(item)) === undefined))
  return [...given, ...others]
}

const own = (value: JsonRecord, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)

const record = (value: unknown): JsonRecord => (isRecord(value) ? value : {})
