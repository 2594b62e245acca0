/** Which settings objects a list returns: by schema, scope and value, in pages. */
import { Refusal, violation } from '../refusal.ts'
import type { SettingsObject } from './settings.ts'

/** A page of settings objects. */
export interface SettingsPage {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly totalCount: number
  readonly pageSize: number
  readonly nextPageKey?: string
}

const DEFAULT_PAGE_SIZE = 100
const MAX_PAGE_SIZE = 500
const DEFAULT_FIELDS = 'objectId,schemaId,scope,value'

/**
 * One page of the objects that match a query. The key of a next page contains the query, so that it is sent
 * alone.
 *
 * *Errors*: 400 naming the parameter that is wrong.
 */
export function querySettings(objects: readonly SettingsObject[], query: URLSearchParams): SettingsPage {
  const { parameters, offset } = readPageKey(query)
  const schemaIds = list(parameters.get('schemaIds'))
  const scopes = list(parameters.get('scopes'))
  if (schemaIds.length === 0 && scopes.length === 0) {
    throw violation('QUERY', 'schemaIds', 'one of schemaIds and scopes is required')
  }
  const pageSize = readPageSize(parameters.get('pageSize'))
  const fields = list(parameters.get('fields') ?? DEFAULT_FIELDS)
  const conditions = readFilter(parameters.get('filter') ?? '')
  const found = objects.filter(
    (object) =>
      (schemaIds.length === 0 || schemaIds.includes(object.schemaId)) &&
      (scopes.length === 0 || scopes.includes(object.scope)) &&
      conditions.every(({ path, expected }) => valueAt(object, path) === expected),
  )
  const end = offset + pageSize
  return {
    items: found.slice(offset, end).map((object) => pick(object, fields)),
    totalCount: found.length,
    pageSize,
    ...(end < found.length && { nextPageKey: pageKey(parameters, end) }),
  }
}

/** A settings object under the names of the API. */
export function settingsItem({ modifiedMs, ...object }: SettingsObject): Readonly<Record<string, unknown>> {
  return { ...object, modified: modifiedMs }
}

function list(text: string | null): readonly string[] {
  return (text ?? '').split(',').filter((each) => each !== '')
}

function readPageSize(text: string | null): number {
  const size = Number(text ?? DEFAULT_PAGE_SIZE)
  if (Number.isInteger(size) && size >= 1) return Math.min(size, MAX_PAGE_SIZE)
  throw violation('QUERY', 'pageSize', `must be between 1 and ${MAX_PAGE_SIZE}`)
}

interface Condition {
  readonly path: readonly string[]
  readonly expected: string
}

/** `value.clusterId = 'x' and value.label = 'y'`: equality is what operators use, so it is what is understood. */
function readFilter(text: string): readonly Condition[] {
  if (text.trim() === '') return []
  return text.split(/\s+and\s+/).map((part) => {
    const [, path, expected] = /^\s*([\w.-]+)\s*=\s*'((?:[^'\\]|\\.)*)'\s*$/.exec(part) ?? []
    if (path === undefined || expected === undefined) {
      throw violation('QUERY', 'filter', `'${part}' is not understood: write path = 'value'`)
    }
    return { path: path.split('.'), expected: expected.replace(/\\(.)/g, '$1') }
  })
}

function valueAt(object: SettingsObject, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    object,
  )
}

function pick(object: SettingsObject, fields: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(settingsItem(object)).filter(([name]) => fields.includes(name)))
}

function pageKey(parameters: URLSearchParams, offset: number): string {
  return Buffer.from(JSON.stringify([parameters.toString(), offset])).toString('base64url')
}

function readPageKey(query: URLSearchParams): { readonly parameters: URLSearchParams; readonly offset: number } {
  const key = query.get('nextPageKey')
  if (key === null) return { parameters: query, offset: 0 }
  try {
    const [parameters, offset] = JSON.parse(Buffer.from(key, 'base64url').toString()) as readonly unknown[]
    if (typeof parameters === 'string' && typeof offset === 'number') {
      return { parameters: new URLSearchParams(parameters), offset }
    }
  } catch {
    // Not one of our keys; said below.
  }
  throw new Refusal(400, 'The key of the next page is invalid.')
}
