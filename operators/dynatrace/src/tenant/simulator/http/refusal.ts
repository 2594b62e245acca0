/** A call that is answered with an error, and the forms in which the APIs of a tenant say so. */
import { type Answer, json } from './answer.ts'

/** One thing that is wrong with a request. */
export interface ConstraintViolation {
  readonly path: string
  readonly message: string
  readonly parameterLocation: 'QUERY' | 'PATH' | 'PAYLOAD_BODY' | 'HEADER'
}

/** What a refusal says beside its status and message. */
export interface RefusalDetails {
  readonly violations?: readonly ConstraintViolation[]
  readonly missingScopes?: readonly string[]
  /** The word by which registries and OAuth servers name an error. */
  readonly reason?: string
  /** Code inside the body when it is to differ from the status. */
  readonly bodyCode?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown by handlers; the route says in which form it is written. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code = 'SIMULATOR_REFUSAL'
  readonly status: number
  readonly details: RefusalDetails

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super(message)
    this.status = status
    this.details = details
  }
}

/** 400 with one violation. */
export function violation(
  parameterLocation: ConstraintViolation['parameterLocation'],
  path: string,
  message: string,
): Refusal {
  return new Refusal(400, 'Constraints violated.', { violations: [{ path, message, parameterLocation }] })
}

/**
 * How an API writes errors: `tenant` is the classic API; `settings-write` answers an array, except for 401 and
 * 403; `platform` keeps violations under `details`; `platform-settings` repeats the code outside; `simulator` is none of them.
 */
export type ErrorForm =
  | 'tenant'
  | 'settings-write'
  | 'platform'
  | 'platform-settings'
  | 'registry'
  | 'oauth'
  | 'simulator'

/** The answer that a refusal becomes. */
export function refusalAnswer(form: ErrorForm, { status, message, details }: Refusal): Answer {
  return json(status, bodyOf(form, status, message, details), details.headers)
}

function bodyOf(form: ErrorForm, status: number, message: string, details: RefusalDetails): unknown {
  const { violations, missingScopes, reason, bodyCode: code = status } = details
  const constraintViolations = violations?.map((each) => ({ ...each, location: null, description: null }))
  const error = { code, message, ...(constraintViolations !== undefined && { constraintViolations }) }
  switch (form) {
    case 'tenant':
      return { error }
    case 'settings-write':
      return status === 401 || status === 403 ? { error } : [{ code, error }]
    case 'platform':
      return {
        error: {
          code,
          message,
          details: {
            ...(constraintViolations !== undefined && { constraintViolations }),
            ...(missingScopes !== undefined && { missingScopes }),
          },
        },
      }
    case 'platform-settings':
      return { error, code }
    case 'registry':
      return { errors: [{ code: reason ?? registryCode(status), message, detail: null }] }
    case 'oauth':
      return { error: reason ?? oauthError(status), error_description: message }
    case 'simulator':
      return { message }
  }
}

function oauthError(status: number): string {
  if (status === 401) return 'invalid_client'
  if (status === 403) return 'unauthorized_client'
  return status === 429 || status === 503 ? 'temporarily_unavailable' : 'server_error'
}

function registryCode(status: number): string {
  if (status === 401) return 'UNAUTHORIZED'
  if (status === 403) return 'DENIED'
  if (status === 404) return 'NAME_UNKNOWN'
  return status === 429 ? 'TOOMANYREQUESTS' : 'UNSUPPORTED'
}
