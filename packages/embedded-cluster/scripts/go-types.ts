/**
 * Properties of fields that only the Go structs contain, neither the schemas nor the protobuf definitions; read from
 * the modules.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { goModuleFolder } from '@reeve/real-cluster'
import type { ProtobufDescriptor } from './protobuf-descriptor.ts'

/**
 * The format of `data/go-types.json`: by protobuf message and JSON name, a string of flags and, after a space, the Go
 * type.
 *
 * Flags: `*` a pointer, so that a zero value differs from no value; `!` encoded even when empty; `0` omitted when it is
 * a zero struct. The type is present if it is a named type other than a struct, such as `v1.Protocol`. A field without
 * any of these is a plain value that is omitted when empty, and is not listed.
 */
export type GoTypes = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Modules of the messages, longest first. */
const MODULES: readonly (readonly [prefix: string, modulePath: string])[] = [
  ['k8s.io.apiextensions_apiserver.', 'k8s.io/apiextensions-apiserver'],
  ['k8s.io.kube_aggregator.', 'k8s.io/kube-aggregator'],
  ['k8s.io.apimachinery.', 'k8s.io/apimachinery'],
  ['k8s.io.api.', 'k8s.io/api'],
]

/** Packages whose types the others use. */
const SHARED_PACKAGES = ['k8s.io.api.core.v1', 'k8s.io.apimachinery.pkg.apis.meta.v1']

interface GoField {
  readonly jsonName: string
  readonly type: string
  readonly options: readonly string[]
}

interface GoPackage {
  readonly structs: ReadonlyMap<string, readonly GoField[]>
  /** Named types other than structs. */
  readonly named: ReadonlySet<string>
}

/** Reads the structs behind `messages`. */
export async function readGoTypes(messages: ProtobufDescriptor['messages']): Promise<GoTypes> {
  const packages = new Map<string, GoPackage>()
  const shared = new Set(['UID'])
  for (const name of SHARED_PACKAGES) {
    const goPackage = await readPackage(name)
    packages.set(name, goPackage)
    for (const type of goPackage.named) shared.add(type)
  }
  const result: Record<string, Record<string, string>> = {}
  for (const message of Object.keys(messages)) {
    const packageName = message.slice(0, message.lastIndexOf('.'))
    const goPackage = packages.get(packageName) ?? (await readPackage(packageName))
    packages.set(packageName, goPackage)
    const fields = goPackage.structs.get(message.slice(packageName.length + 1)) ?? []
    const described = Object.fromEntries(
      fields
        .filter(({ jsonName }) => jsonName !== '' && jsonName !== '-')
        .map((field) => [field.jsonName, describe(field, packageName, goPackage.named, shared)] as const)
        .filter(([, text]) => text !== ''),
    )
    if (Object.keys(described).length > 0) result[message] = described
  }
  return result
}

function describe(
  { type, options }: GoField,
  packageName: string,
  own: ReadonlySet<string>,
  shared: ReadonlySet<string>,
): string {
  const isAlways = !options.includes('omitempty') && !options.includes('omitzero')
  const flags = `${type.startsWith('*') ? '*' : ''}${isAlways ? '!' : ''}${options.includes('omitzero') ? '0' : ''}`
  const [, wrapper = '', alias = '', name = ''] = /^\*?((?:\[\]|map\[\w+\])*)(?:(\w+)\.)?(.*)$/.exec(type) ?? []
  if (!(alias === '' ? own : shared).has(name)) return flags
  // Go uses the package's own name in type names, whatever the name of its import.
  const goPackage =
    alias === '' ? packageName.slice(packageName.lastIndexOf('.') + 1) : alias.replace(/^(meta|core|api)v1$/, 'v1')
  return `${flags} ${wrapper}${goPackage}.${name}`.trimStart()
}

async function readPackage(packageName: string): Promise<GoPackage> {
  const [prefix = '', modulePath = ''] = MODULES.find(([start]) => packageName.startsWith(start)) ?? []
  const folder = join(await goModuleFolder(modulePath), packageName.slice(prefix.length).replaceAll('.', '/'))
  const structs = new Map<string, readonly GoField[]>()
  const named = new Set<string>()
  const isSource = (name: string) => name.endsWith('.go') && !/_test\.go$|^zz_generated|generated\.pb\.go$/.test(name)
  for (const file of (await readdir(folder)).filter(isSource)) {
    const text = await readFile(join(folder, file), 'utf8')
    for (const [, name = '', body = ''] of text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) {
      structs.set(name, [...body.matchAll(/^\t(?:\w+\s+)?([\w.*[\]]+)\s+`json:"([^"]*)"/gm)].map(toField))
    }
    for (const [, name = '', type = ''] of text.matchAll(/^type (\w+) ([\w.[\]]+)/gm)) {
      if (type !== 'struct' && type !== 'interface') named.add(name)
    }
  }
  return { structs, named }
}

function toField([, type = '', tag = '']: RegExpMatchArray): GoField {
  const [jsonName = '', ...options] = tag.split(',')
  return { jsonName: options.includes('inline') ? '' : jsonName, type, options }
}
