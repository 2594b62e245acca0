/** Reads the configuration of a Collector: Base64 of a YAML map. The input is not trusted. */
import type { Problem } from '@reeve/crd'
import { readYaml, YamlFault, yamlValue } from '@reeve/helm/yaml'
import { ownValue } from '@reeve/http'
import { MAX_CONFIGURATION_BYTES } from './api/collector.ts'

/** Values for a chart. */
export type Values = Readonly<Record<string, unknown>>

/** Values, or the problem with them. */
export type Decoded =
  | { readonly values: Values; readonly problem?: undefined }
  | { readonly values?: undefined; readonly problem: Problem }

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** About six a line: more than a configuration of the largest size needs. */
const MAX_TOKENS = 100_000

/** Bounds the recursion over values. */
const MAX_DEPTH = 64

/**
 * The values in a configuration. Line breaks, which `base64` prints, are allowed; an empty configuration means no values.
 *
 * @example
 * const { values, problem } = decodeConfiguration('cmVwbGljYXM6IDIK') // { replicas: 2 }
 */
export function decodeConfiguration(configuration: string, field = 'spec.collector.configuration'): Decoded {
  const packed = configuration.replace(/\s+/g, '')
  if (!BASE64.test(packed)) {
    return refuse(field, 'is not Base64: encode the YAML with `base64 -w0 values.yaml`')
  }
  return decodeValues(Buffer.from(packed, 'base64'), field)
}

/**
 * The values in the bytes of a YAML file.
 *
 * @example
 * const { values, problem } = decodeValues(await readFile('values.yaml'), 'spec.collector.configurationFrom')
 */
export function decodeValues(bytes: Uint8Array, field: string): Decoded {
  if (bytes.length > MAX_CONFIGURATION_BYTES) {
    return refuse(field, `has ${bytes.length} bytes: at most ${MAX_CONFIGURATION_BYTES} are accepted`)
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // The error of the decoder says no more than the problem.
    return refuse(field, 'is not UTF-8 text: encode a YAML file')
  }
  return parseValues(text, field)
}

/**
 * The values in the text of a YAML document.
 *
 * *Guarantees*: a problem never quotes the text, which may hold secrets; it names the line.
 *
 * @example
 * parseValues('replicas: 2', 'spec.collector.configurationFrom')
 */
export function parseValues(text: string, field: string): Decoded {
  let value: unknown
  try {
    const [document, another] = readYaml(text, { maxTokens: MAX_TOKENS })
    if (another !== undefined) return refuse(field, 'contains several YAML documents: keep one')
    value = document && yamlValue(document)
  } catch (error) {
    if (error instanceof YamlFault) return refuse(field, error.message)
    throw error
  }
  if (value === null || value === undefined) return { values: {} }
  if (!isMap(value)) return refuse(field, 'is YAML but not a map: write `name: value` lines')
  const unsuitable = findUnsuitable(value, '', 0)
  return unsuitable === undefined ? { values: value } : refuse(field, unsuitable)
}

/**
 * Merges one set of values over another, as Helm does with several files: maps are merged, everything else is replaced.
 *
 * @example
 * mergeValues({ image: { tag: '1' } }, { image: { pullPolicy: 'Always' } })
 */
export function mergeValues(below: Values, above: Values): Values {
  // Unlike an assignment, this treats __proto__ like any other name.
  const merged = Object.entries(above).map(([key, value]) => {
    const under = ownValue(below, key)
    return [key, isMap(under) && isMap(value) ? mergeValues(under, value) : value] as const
  })
  return { ...below, ...Object.fromEntries(merged) }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** Finds what YAML can express but JSON, in which values reach Helm, cannot. */
function findUnsuitable(value: unknown, path: string, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return `has a number at ${path} that is not finite: quote it to make it a text`
  }
  if (Array.isArray(value))
    return first(
      value.map((item, index) => [`${path}[${index}]`, item] as const),
      depth,
    )
  if (isMap(value)) {
    const below = Object.entries(value).map(([key, item]) => [path === '' ? key : `${path}.${key}`, item] as const)
    return first(below, depth)
  }
  if (typeof value === 'object' && value !== null)
    return `has a value at ${path} that JSON cannot express: write it as a text`
  return undefined
}

function first(entries: readonly (readonly [string, unknown])[], depth: number): string | undefined {
  for (const [path, item] of entries) {
    const found = findUnsuitable(item, path, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

function refuse(field: string, message: string): Decoded {
  return { problem: { field, message } }
}
