/** The parameters of all writes, read from the query string and headers. */

import { badRequest, invalid } from '../api/api-errors.ts'
import type { UserInfo } from '../api/user.ts'
import type { JsonObject } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import type { WriteRequest } from '../rest/context.ts'
import type { RequestInfo } from '../rest/request-info.ts'
import type { ServerRequest } from './exchange.ts'

const optionKinds: Readonly<Record<string, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
}
const MAX_MANAGER_LENGTH = 128

/** Reads and validates `dryRun`, `fieldManager` and `fieldValidation`. */
export function readWriteRequest(
  request: ServerRequest,
  path: RequestInfo,
  info: ResourceInfo,
  user: UserInfo,
  warn: (message: string) => void,
  signal: AbortSignal,
): WriteRequest {
  const { query } = path
  const kind = optionKinds[path.verb] ?? 'UpdateOptions'
  const dryRun = query.getAll('dryRun')
  for (const value of dryRun) requireDryRunValue(kind, value)
  const fieldManager = query.get('fieldManager') ?? ''
  if (fieldManager.length > MAX_MANAGER_LENGTH) {
    const message = `Too long: may not be more than ${MAX_MANAGER_LENGTH} bytes`
    throw invalid({ group: 'meta.k8s.io', kind }, '', [{ field: 'fieldManager', reason: 'FieldValueTooLong', message }])
  }
  const unprintable = unprintableProblem(fieldManager)
  if (unprintable !== undefined) {
    const error = { field: 'fieldManager', reason: 'FieldValueInvalid', message: unprintable } as const
    throw invalid({ group: 'meta.k8s.io', kind }, '', [error])
  }
  const fieldValidation = query.get('fieldValidation') ?? ''
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    const message = `Unsupported value: ${JSON.stringify(fieldValidation)}: supported values: "", "Ignore", "Strict", "Warn"`
    const error = { field: 'fieldValidation', reason: 'FieldValueNotSupported', message } as const
    throw invalid({ group: 'meta.k8s.io', kind }, '', [error])
  }
  const options: JsonObject = {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun.length > 0 ? { dryRun: ['All'] } : {}),
    ...(fieldManager === '' ? {} : { fieldManager }),
    ...(fieldValidation === '' ? {} : { fieldValidation }),
  }
  return {
    info,
    subresource: path.subresource,
    namespace: path.namespace,
    name: path.name,
    user,
    dryRun: dryRun.length > 0,
    fieldManager: fieldManager === '' ? managerFromUserAgent(request.headers['user-agent']) : fieldManager,
    fieldValidation: fieldValidation === 'Ignore' || fieldValidation === 'Strict' ? fieldValidation : 'Warn',
    options,
    warn,
    signal,
  }
}

function requireDryRunValue(kind: string, value: string): void {
  if (value === 'All') return
  const message = `Unsupported value: ["${value}"]: supported values: "All"`
  throw invalid({ group: 'meta.k8s.io', kind }, '', [{ field: 'dryRun', reason: 'FieldValueNotSupported', message }])
}

/** The first unprintable character in the name of a field manager, in the wording of the real server. */
function unprintableProblem(manager: string): string | undefined {
  const position = [...manager].findIndex((character) => /[\p{C}\p{Zl}\p{Zp}]/u.test(character))
  const character = [...manager][position]
  if (character === undefined) return undefined
  const code = (character.codePointAt(0) ?? 0).toString(16)
  const quoted = JSON.stringify(manager).replace(/\\u00([0-9a-f]{2})/g, '\\x$1')
  return `Invalid value: ${quoted}: invalid character U+${code.toUpperCase().padStart(4, '0')} (at position ${position})`
}

/** The part of the user agent before the first slash, without unprintable characters. */
function managerFromUserAgent(userAgent: string | undefined): string {
  const name = [...(userAgent ?? '').split('/', 1).join('')].filter((character) => character >= ' ').join('')
  return name === '' ? 'unknown' : name.slice(0, MAX_MANAGER_LENGTH)
}

/** The name, which is required for verbs on one object. */
export function requireName(path: RequestInfo): string {
  if (path.name === undefined || path.name === '') throw badRequest('name must be provided')
  return path.name
}
