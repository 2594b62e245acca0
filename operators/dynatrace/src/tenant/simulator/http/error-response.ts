/** The error responses of the APIs of a tenant, each in its own form. */
import type { Refusal, RefusalDetails } from '../refusal.ts'
import { json, type SimulatedResponse } from './response.ts'

/**
 * The form of an API's errors: `tenant` is the classic API; `settings-write` responds with an array, except for 401 and
 * 403; `platform` has violations in `details`; `platform-settings` repeats the code outside; `simulator` is the control API.
 */
export type ErrorForm =
  | 'tenant'
  | 'settings-write'
  | 'platform'
  | 'platform-settings'
  | 'registry'
  | 'oauth'
  | 'simulator'

/** The response to a call that was refused. */
export function errorResponse(form: ErrorForm, { status, message, details }: Refusal): SimulatedResponse {
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
