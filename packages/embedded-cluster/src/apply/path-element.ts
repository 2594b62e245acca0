/** One element of a path into an object, in the format of `managedFields`. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { canonicalJson } from '../schema/json-value.ts'

/**
 * `f:name` for a field, `k:{"name":"web"}` for an item of a keyed list, `v:"a"` for a member of a set, `i:0` for an
 * index. The format is canonical (sorted keys, no spaces), so equal elements are equal strings.
 */
export type PathElement = string

/** The element for a field. */
export function fieldElement(name: string): PathElement {
  return `f:${name}`
}

/** The element for the item of a keyed list with these key values. */
export function keyElement(keys: JsonObject): PathElement {
  const names = Object.keys(keys)
  if (names.length > 1) names.sort()
  let text = ''
  for (const name of names) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${scalarJson(keys[name] ?? null)}`
  return `k:{${text}}`
}

/** Keys are almost always strings or numbers, which do not need the general format. */
function scalarJson(value: JsonValue): string {
  return typeof value === 'object' ? canonicalJson(value) : JSON.stringify(value)
}

/** The element for a member of a set. */
export function valueElement(value: JsonValue): PathElement {
  return `v:${scalarJson(value)}`
}

/** The canonical form of an element received from a client, or `undefined` when it is not a path element. */
export function parsePathElement(text: string): PathElement | undefined {
  const body = text.slice(2)
  switch (text.slice(0, 2)) {
    case 'f:':
      return text
    case 'i:':
      return /^\d+$/.test(body) ? text : undefined
    case 'k:': {
      const keys = parsed(body)
      return isJsonObject(keys) ? keyElement(keys) : undefined
    }
    case 'v:': {
      const value = parsed(body)
      return value === undefined ? undefined : valueElement(value)
    }
    default:
      return undefined
  }
}

/** A path in the format of messages: `.spec.ports[port=80,protocol="TCP"].name`. */
export function describePath(path: readonly PathElement[]): string {
  return path.map(describeElement).join('')
}

function describeElement(element: PathElement): string {
  const body = element.slice(2)
  switch (element.charAt(0)) {
    case 'f':
      return `.${body}`
    case 'v':
      return `[=${body}]`
    case 'i':
      return `[${body}]`
    default: {
      const keys = parsed(body)
      if (!isJsonObject(keys)) return `[${body}]`
      return `[${Object.entries(keys)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`
    }
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the caller treats it as an invalid element.
    return undefined
  }
}
