/** Expected errors: the whole `Status`, so that it is compared completely. */
import type { Json } from './conformance-api.ts'

/** The fields that differ between errors. */
export interface Failure {
  readonly code: number
  readonly reason?: string
  readonly message: unknown
  readonly details?: Json
}

/** The `Status` object of an error. */
export function failure({ code, reason, message, details }: Failure): Json {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && { details }),
    code,
  }
}

/** One invalid field. */
export interface WrongField {
  readonly field: string
  readonly reason: string
  readonly message: string
}

/** 422: `kind` is the kind with its group, as in `Deployment.apps`. */
export function invalid(kind: string, name: string, ...wrong: readonly WrongField[]): Json {
  const [plain = '', ...group] = kind.split('.')
  const texts = wrong.map(({ field, message }) => `${field}: ${message}`)
  return failure({
    code: 422,
    reason: 'Invalid',
    message: `${kind} "${name}" is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
    details: {
      ...(name !== '' && { name }),
      ...(group.length > 0 && { group: group.join('.') }),
      kind: plain,
      causes: wrong.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  })
}

/** 404 for an object. */
export function notFound(resource: string, name: string): Json {
  const [kind, ...group] = resource.split('.')
  return failure({
    code: 404,
    reason: 'NotFound',
    message: `${resource} "${name}" not found`,
    details: { name, ...(group.length > 0 && { group: group.join('.') }), kind },
  })
}

/** 409 for a stale write. */
export function conflict(resource: string, name: string): Json {
  const [kind, ...group] = resource.split('.')
  return failure({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    details: { name, ...(group.length > 0 && { group: group.join('.') }), kind },
  })
}

/** 400. */
export function badRequest(message: unknown): Json {
  return failure({ code: 400, reason: 'BadRequest', message })
}

/** 405. */
export const methodNotAllowed: Json = failure({
  code: 405,
  reason: 'MethodNotAllowed',
  message: 'the server does not allow this method on the requested resource',
  details: {},
})

/** 404 for a resource that is not served. */
export const resourceNotFound: Json = failure({
  code: 404,
  reason: 'NotFound',
  message: 'the server could not find the requested resource',
  details: {},
})
