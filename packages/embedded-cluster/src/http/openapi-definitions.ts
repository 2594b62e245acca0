/** What both versions of OpenAPI publish: names, hashes and the definitions of built-in kinds. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dataFile } from '../data-file.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { apiVersionOf, type ResourceInfo } from '../registry/resource-info.ts'
import { kubernetesVersion } from './version.ts'

/** References between definitions in version 2. */
export const refPrefix = '#/definitions/'
export const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
export const listMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta'

/** The fields that every custom resource has, in the words of this cluster: `kubectl explain` shows them. */
export const typeMeta = {
  apiVersion: { type: 'string', description: 'APIVersion defines the group and version of this object.' },
  kind: { type: 'string', description: 'Kind is the type of this object, in CamelCase.' },
  metadata: "Standard object's metadata.",
} as const

/** Descriptions of the metadata of objects: the fields that users of custom resources ask for. */
const metadataFields: Readonly<Record<string, string>> = {
  annotations: 'Annotations are values for tools, which selectors cannot use.',
  creationTimestamp: 'CreationTimestamp is a timestamp of the moment at which the object was stored.',
  deletionTimestamp: 'DeletionTimestamp is set while the object is being deleted.',
  finalizers: 'Finalizers must be removed, by those who added them, before the object is deleted.',
  generateName: 'GenerateName is the prefix of a name that the server completes.',
  generation: 'Generation counts the changes of the desired state.',
  labels: 'Labels are values by which objects are selected.',
  managedFields: 'ManagedFields records who applied which fields.',
  name: 'Name identifies the object in its namespace.',
  namespace: 'Namespace is the scope of the name.',
  ownerReferences: 'OwnerReferences are the objects without which this one is deleted.',
  resourceVersion: 'ResourceVersion changes with every write.',
  uid: 'UID differs from that of every other object, also of the same name.',
}

/** The definitions of built-in kinds, read when they are first used: most processes never need them. */
export class PublishedDefinitions {
  #definitions: Readonly<Record<string, JsonObject>> | undefined
  #nameByKind: ReadonlyMap<string, string> | undefined

  /** By name, in the form of version 2. */
  definitions(): Readonly<Record<string, JsonObject>> {
    if (this.#definitions === undefined) {
      const text = readFileSync(dataFile('openapi-definitions.json'), 'utf8')
      const parsed: Readonly<Record<string, JsonObject>> = JSON.parse(text)
      this.#definitions = { ...parsed, [objectMeta]: described(parsed[objectMeta] ?? {}) }
    }
    return this.#definitions
  }

  /** The name of the definition of a kind. */
  nameOf(of: { readonly group: string; readonly version: string; readonly kind: string }): string | undefined {
    this.#nameByKind ??= this.#names()
    return this.#nameByKind.get(`${of.group}/${of.version}/${of.kind}`)
  }

  #names(): ReadonlyMap<string, string> {
    const names = new Map<string, string>()
    for (const [name, definition] of Object.entries(this.definitions())) {
      const kinds = definition['x-kubernetes-group-version-kind']
      for (const kind of Array.isArray(kinds) ? kinds : []) {
        if (isJsonObject(kind)) names.set(`${kind.group}/${kind.version}/${kind.kind}`, name)
      }
    }
    return names
  }
}

function described(definition: JsonObject): JsonObject {
  const properties = isJsonObject(definition.properties) ? definition.properties : {}
  const entries = Object.entries(properties).map(([name, property]) => {
    const description = metadataFields[name]
    return [name, isJsonObject(property) && description !== undefined ? { ...property, description } : property]
  })
  return { ...definition, description: typeMeta.metadata, properties: Object.fromEntries(entries) }
}

/** `com.example.v1.Widget` for `Widget` in `example.com/v1`. */
export function customName(info: ResourceInfo): string {
  return `${info.group.split('.').reverse().join('.')}.${info.version}.${info.kind}`
}

/** A hash that changes with a document; computed from the registry, so that the index does not build documents. */
export function hashOf(infos: readonly ResourceInfo[]): string {
  const parts = infos.map((info) => {
    const names = [apiVersionOf(info), info.kind, info.plural, info.subresources.map((sub) => sub.name)]
    return info.custom ? [names, info.schema] : names
  })
  return createHash('sha512')
    .update(JSON.stringify([kubernetesVersion, parts]))
    .digest('hex')
    .toUpperCase()
}
