/** The strategy of CustomResourceDefinitions: defaults, initial status, validation and deletion. */

import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { readDefinition } from './definition.ts'
import { markForDeletion } from './definition-status.ts'
import { validateDefinition } from './validate-definition.ts'

/** How the server processes writes of CustomResourceDefinitions. */
export const definitionStrategy: KindStrategy = {
  generation: ['spec'],
  default: defaultDefinition,
  prepareForCreate: startStatus,
  prepareForUpdate: recordStoredVersions,
  validate: validateDefinition,
  prepareForDelete: (object, context) => markForDeletion(object, context.clock.now()),
}

const DEFAULT_PORT = 443

/** Sets the default names and conversion of a draft, in place. */
function defaultDefinition(draft: JsonObject): void {
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
  // A field of an older API; its only valid value today means the same as its absence.
  if (spec.preserveUnknownFields === false) delete spec.preserveUnknownFields
}

/** The initial status of a definition: no names accepted, its storage version recorded. */
function startStatus(draft: JsonObject): void {
  draft.status = {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: storageVersions(draft),
  }
}

/** Records a new storage version in the draft of an update: objects may be stored in it from now on. */
function recordStoredVersions(draft: JsonObject): void {
  const status = isJsonObject(draft.status) ? draft.status : {}
  const stored = arrayAt(status, 'storedVersions')
  const added = storageVersions(draft).filter((version) => !stored.includes(version))
  if (added.length > 0) draft.status = { ...status, storedVersions: [...stored, ...added] }
}

function storageVersions(crd: JsonObject): string[] {
  const storage = readDefinition(crd).versions.find((version) => version.storage)
  return storage === undefined ? [] : [storage.name]
}
