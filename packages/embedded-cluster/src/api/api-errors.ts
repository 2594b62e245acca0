/** Errors with the messages of the real server, so that clients and people recognize them. */
import type { JsonObject } from '../json.ts'
import { groupResource } from '../registry/resource-info.ts'
import { type FieldError, type StatusCause, StatusError } from '../status-error.ts'

interface ResourceName {
  readonly group: string
  readonly plural: string
}

interface KindName {
  readonly group: string
  readonly kind: string
}

function details(resource: ResourceName, name: string) {
  return { name, ...(resource.group === '' ? {} : { group: resource.group }), kind: resource.plural }
}

/** 404: the object does not exist. */
export function notFound(resource: ResourceName, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${groupResource(resource)} "${name}" not found`, details(resource, name))
}

/** 404 with the plain text of unknown paths; the front sends it without a Status. */
export class PageNotFound extends Error {
  constructor() {
    super('404 page not found')
    this.name = 'PageNotFound'
  }
}

/** 404 for a verb on a resource without that path. */
export function resourceNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {})
}

/** 409: the object already exists. */
export function alreadyExists(resource: ResourceName, name: string, isBeingDeleted = false): StatusError {
  const message = `${isBeingDeleted ? 'object is being deleted: ' : ''}${groupResource(resource)} "${name}" already exists`
  return new StatusError(409, 'AlreadyExists', message, details(resource, name))
}

/** 409: the object was modified, or a precondition failed. */
export function conflict(resource: ResourceName, name: string, why: string = modified): StatusError {
  const message = `Operation cannot be fulfilled on ${groupResource(resource)} "${name}": ${why}`
  return new StatusError(409, 'Conflict', message, details(resource, name))
}

/** 409: a precondition of a deletion failed. The real server reports the kind here, not the resource. */
export function preconditionFailed(of: KindName, name: string, why: string): StatusError {
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`
  return new StatusError(409, 'Conflict', `Operation cannot be fulfilled on ${kind} "${name}": ${why}`, {
    name,
    ...(of.group === '' ? {} : { group: of.group }),
    kind: of.kind,
  })
}

const modified = 'the object has been modified; please apply your changes to the latest version and try again'

/** 400. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message)
}

/** 403, for reasons other than missing permissions. */
export function forbidden(resource: ResourceName, name: string, why: string, causes?: StatusCause[]): StatusError {
  const message = `${groupResource(resource)} "${name}" is forbidden: ${why}`
  return new StatusError(403, 'Forbidden', message, {
    ...details(resource, name),
    ...(causes === undefined ? {} : { causes }),
  })
}

/** 405. */
export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource'
  return new StatusError(405, 'MethodNotAllowed', message, {})
}

/** 406 for a supported media type with unsupported parameters. */
export function notRepresentable(accepted: readonly string[]): StatusError {
  return new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
}

/** 406 with the supported media types. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${accepted.join(', ')}`
  return new StatusError(406, 'NotAcceptable', message, {})
}

/** 415 with the supported media types. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  return new StatusError(415, 'UnsupportedMediaType', message)
}

/** 415 for a patch; the real server does not list the supported types here. */
export function unsupportedPatchType(): StatusError {
  return new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
}

/** More errors are not useful; the response would be larger than the request. */
const MAX_FIELD_ERRORS = 1000

/** 422: one or more fields are invalid. */
export function invalid(of: KindName, name: string, found: readonly FieldError[]): StatusError {
  const errors = found.slice(0, MAX_FIELD_ERRORS)
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))]
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  return new StatusError(422, 'Invalid', `${kind} "${name}" is invalid: ${list}`, {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    ...(of.kind === '' ? {} : { kind: of.kind }),
    causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
  })
}

/** 410: the required history is not available; list again. */
export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message)
}

/** 504: the client requests a revision that the server has not reached. */
export function resourceVersionTooLarge(requested: number, current: number): StatusError {
  return new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}

/** 500. */
export function internalError(message: string, options?: ErrorOptions): StatusError {
  return new StatusError(
    500,
    'InternalError',
    `Internal error occurred: ${message}`,
    {
      causes: [{ message }],
    },
    options,
  )
}

/** The `Status` object of `error`. */
export function toStatus(error: StatusError): JsonObject {
  const { code, reason, message, details: more } = error
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: error instanceof ExpiredContinue ? { continue: error.continueToken } : {},
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    // The details are plain JSON by construction; only their readonly markers differ.
    ...(more === undefined ? {} : { details: more as JsonObject }),
    code,
  }
}

/** 410 for a page whose snapshot is not available, with a token that continues from the latest state instead. */
export class ExpiredContinue extends StatusError {
  readonly continueToken: string

  constructor(continueToken: string) {
    super(
      410,
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
        'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
        'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
        'deleted between the time the first chunk was returned and now may show up in the list.',
    )
    this.continueToken = continueToken
  }
}
