/** A compact descriptor of the built-in protobuf messages, read from the modules' definitions. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { goModuleFolder } from '@reeve/real-cluster'
import type { DiscoveryTable } from '../src/registry/builtin-resources.ts'
import type { Definitions } from './openapi-definitions.ts'

/** The format of `data/protobuf.json`. */
export interface ProtobufDescriptor {
  /**
   * Package of the messages of an `apiVersion`. The kind is the message's name: `apps/v1`, `Deployment` is the message
   * `k8s.io.api.apps.v1.Deployment`. Kinds that belong to every group (DeleteOptions, Status, …) are in the package of
   * `meta.k8s.io/v1`.
   */
  readonly packages: Readonly<Record<string, string>>
  /** Fields by message name, then by field number. */
  readonly messages: Readonly<Record<string, Readonly<Record<string, ProtobufField>>>>
}

/**
 * `[JSON name, type]`, `[JSON name, type, 'repeated']` or `[JSON name, type of the values, 'map']` (keys are strings).
 *
 * A type is a protobuf scalar or the full name of a message. The JSON name `''` means that the value has no name in
 * JSON: the fields of an embedded message appear among those of its parent, and a message with a single repeated field
 * (a Go slice type) is encoded as the array of its elements.
 */
export type ProtobufField = readonly [name: string, type: string, cardinality?: 'repeated' | 'map']

const SCALARS = new Set(['string', 'bytes', 'bool', 'int32', 'int64', 'uint32', 'uint64', 'double', 'float'])

/** Packages that every other one refers to, by module. */
const SHARED_PACKAGES: readonly (readonly [module: string, folder: string])[] = [
  ['k8s.io/apimachinery', 'pkg/apis/meta/v1'],
  ['k8s.io/apimachinery', 'pkg/api/resource'],
  ['k8s.io/apimachinery', 'pkg/runtime'],
  ['k8s.io/apimachinery', 'pkg/util/intstr'],
]

/** Messages of the served groups, plus the shared ones. */
export async function readProtobufDescriptor(
  discovery: DiscoveryTable,
  definitions: Definitions,
): Promise<ProtobufDescriptor> {
  const packages: Record<string, string> = { 'meta.k8s.io/v1': 'k8s.io.apimachinery.pkg.apis.meta.v1' }
  const messages: Record<string, Record<string, ProtobufField>> = {}
  const read = async ([modulePath, folder]: readonly [module: string, folder: string]): Promise<string> => {
    const text = await readFile(join(await goModuleFolder(modulePath), folder, 'generated.proto'), 'utf8')
    const parsed = parseProto(text)
    Object.assign(messages, parsed.messages)
    return parsed.packageName
  }
  for (const source of SHARED_PACKAGES) await read(source)
  for (const { name: group, versions } of discovery.groups) {
    for (const version of versions) {
      packages[group === '' ? version : `${group}/${version}`] = await read(folderOf(group, version))
    }
  }
  nameAsInJson(messages, definitions)
  const unknown = Object.values(messages)
    .flatMap((fields) => Object.values(fields).map(([, type]) => type))
    .filter((type) => !SCALARS.has(type) && messages[type] === undefined)
  if (unknown.length > 0) throw new Error(`messages refer to types that were not read: ${unknown.join(', ')}`)
  return { packages, messages: Object.fromEntries(Object.entries(messages).sort(([a], [b]) => (a < b ? -1 : 1))) }
}

// A group's folder is the first label of its name, except for two with their own modules.
function folderOf(group: string, version: string): readonly [module: string, folder: string] {
  if (group === 'apiextensions.k8s.io') return ['k8s.io/apiextensions-apiserver', `pkg/apis/apiextensions/${version}`]
  if (group === 'apiregistration.k8s.io') return ['k8s.io/kube-aggregator', `pkg/apis/apiregistration/${version}`]
  return ['k8s.io/api', `${group === '' ? 'core' : group.split('.')[0]}/${version}`]
}

/** Parses the output of Kubernetes' generator: proto2, flat messages, one field per line, no enums and no oneofs. */
function parseProto(text: string): {
  readonly packageName: string
  readonly messages: Record<string, Record<string, ProtobufField>>
} {
  const packageName = /^package (\S+);/m.exec(text)?.[1]
  if (packageName === undefined) throw new Error('a protobuf file without package')
  const messages: Record<string, Record<string, ProtobufField>> = {}
  let fields: Record<string, ProtobufField> | undefined
  for (const line of text.split('\n')) {
    const message = /^message (\w+) \{$/.exec(line)?.[1]
    if (message !== undefined) {
      fields = {}
      messages[`${packageName}.${message}`] = fields
    }
    const field = /^ {2}(optional |repeated |map<string, )([\w.]+)>? (\w+) = (\d+);$/.exec(line)
    if (field === null || fields === undefined) {
      if (/^ {2}[^/ ]/.test(line) && fields !== undefined) throw new Error(`cannot parse: ${line}`)
      continue
    }
    const [, cardinality = '', type = '', name = '', number = ''] = field
    const fullType = SCALARS.has(type) ? type : type.startsWith('.') ? type.slice(1) : `${packageName}.${type}`
    fields[number] =
      cardinality === 'optional '
        ? [name, fullType]
        : [name, fullType, cardinality === 'repeated ' ? 'repeated' : 'map']
  }
  return { packageName, messages }
}

/**
 * Protobuf field names equal the JSON names, with two exceptions that only the schemas show: names that protobuf does
 * not allow (`x-kubernetes-…`, `$ref`), and embedded structs and named slices, which have no name in JSON.
 */
function nameAsInJson(messages: Record<string, Record<string, ProtobufField>>, definitions: Definitions): void {
  for (const [message, fields] of Object.entries(messages)) {
    const properties = definitions[message.replace(/^k8s\.io\./, 'io.k8s.').replaceAll('_', '-')]?.properties
    if (properties === undefined) {
      const [first, ...others] = Object.entries(fields)
      if (first !== undefined && others.length === 0 && first[1][0] === 'items' && first[1][2] === 'repeated') {
        fields[first[0]] = ['', first[1][1], 'repeated']
      }
      continue
    }
    const jsonNames = new Map(Object.keys(properties).map((name) => [simplified(name), name]))
    for (const [number, [name, type, ...rest]] of Object.entries(fields)) {
      if (properties[name] !== undefined) continue
      const jsonName = jsonNames.get(simplified(name))
      if (jsonName === undefined && SCALARS.has(type)) throw new Error(`${message}.${name} is not in the schema`)
      fields[number] = [jsonName ?? '', type, ...rest]
    }
  }
}

function simplified(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9]/g, '').toLowerCase()
}
