/** Fills what a CustomResourceDefinition leaves out, and starts its status. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { readDefinition } from './definition.ts'

const DEFAULT_PORT = 443

/** Fills names and conversion of a draft in place. */
export function defaultDefinition(draft: JsonObject): void {
  const { spec } = draft
  if (!isJsonObject(spec)) return
  const { names } = spec
  if (isJsonObject(names)) {
    const kind = stringAt(names, 'kind') ?? ''
    if ((stringAt(names, 'singular') ?? '') === '' && kind !== '') names.singular = kind.toLowerCase()
    if ((stringAt(names, 'listKind') ?? '') === '' && kind !== '') names.listKind = `${kind}List`
  }
  if (!isJsonObject(spec.conversion)) spec.conversion = { strategy: 'None' }
  const service = objectAt(objectAt(spec.conversion, 'webhook'), 'clientConfig').service
  if (isJsonObject(service)) service.port ??= DEFAULT_PORT
  // The field is of an older API; its only value today says the same as its absence.
  if (spec.preserveUnknownFields === false) delete spec.preserveUnknownFields
}

/** The status a new definition starts with: nothing accepted, its storage version stored. */
export function startStatus(draft: JsonObject): void {
  draft.status = {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: storageVersions(draft),
  }
}

/** Notes a new storage version in the draft of an update: objects may be stored in it from now on. */
export function recordStoredVersions(draft: JsonObject): void {
  const status = isJsonObject(draft.status) ? draft.status : {}
  const stored = arrayAt(status, 'storedVersions')
  const added = storageVersions(draft).filter((version) => !stored.includes(version))
  if (added.length > 0) draft.status = { ...status, storedVersions: [...stored, ...added] }
}

function storageVersions(crd: JsonObject): string[] {
  const storage = readDefinition(crd).versions.find((version) => version.storage)
  return storage === undefined ? [] : [storage.name]
}
