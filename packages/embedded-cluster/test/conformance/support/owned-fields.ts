/** Field ownership in a readable form: the paths of each manager. */
import type { Json } from './conformance-api.ts'

/**
 * The paths that each manager owns, by `manager Operation` or `manager Operation subresource`. Paths are written as in
 * conflict messages; a path whose children are listed is listed itself only when it is owned too.
 *
 * @example
 * expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data.a'] })
 */
export function ownersOf(object: Json): Record<string, string[]> {
  const owners: Record<string, string[]> = {}
  for (const { manager, operation, subresource, fieldsV1 } of object.metadata.managedFields ?? []) {
    const key = `${manager} ${operation}${subresource === undefined ? '' : ` ${subresource}`}`
    owners[key] = [...pathsIn(fieldsV1)]
  }
  return owners
}

function* pathsIn(fields: Json, prefix = ''): Generator<string> {
  for (const [element, below] of Object.entries<Json>(fields)) {
    if (element === '.') continue
    const path = `${prefix}${spell(element)}`
    if (Object.keys(below).length === 0 || '.' in below) yield path
    yield* pathsIn(below, path)
  }
}

function spell(element: string): string {
  const [type, value] = [element.slice(0, 2), element.slice(2)]
  if (type === 'f:') return `.${value}`
  if (type === 'v:') return `[=${value}]`
  if (type === 'i:') return `[${value}]`
  const keys = Object.entries<Json>(JSON.parse(value))
  return `[${keys.map(([key, is]) => `${key}=${JSON.stringify(is)}`).join(',')}]`
}
