/** Turns a normal response into the one that a fault rule describes. */
import { type Clock, sleep } from '@reeve/http'
import type { Fault } from './fault-rules.ts'
import { type ErrorForm, errorResponse } from './http/error-response.ts'
import { html, isStreamed, type SimulatedResponse } from './http/response.ts'
import { Refusal } from './refusal.ts'

/** A response, and where the connection is closed while it is sent. */
export interface FaultyResponse {
  readonly response: SimulatedResponse
  /** -1: before the headers. Undefined: it is sent whole. */
  readonly cutAfterBytes?: number | undefined
}

const DEFAULT_RETRY_AFTER_SECONDS = 1

/**
 * Responds to a call with these faults: first the delay, then an error or the normal response, which may then be
 * malformed or cut.
 */
export async function injectFaults(
  faults: readonly Fault[],
  errors: ErrorForm,
  respond: () => Promise<SimulatedResponse>,
  options: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<FaultyResponse> {
  const slow = faults.find((fault) => fault.kind === 'slow')
  if (slow !== undefined) await sleep(slow.delayMs, options)
  const refused = faults.map((fault) => refusal(fault, errors)).find((each) => each !== undefined)
  const altered = faults.reduce(alter, refused ?? (await respond()))
  const cut = faults.find((fault) => fault.kind === 'cut')
  return cut === undefined ? { response: altered } : { response: altered, cutAfterBytes: cut.afterBytes ?? -1 }
}

function refusal(fault: Fault, errors: ErrorForm): SimulatedResponse | undefined {
  switch (fault.kind) {
    case 'unauthorized':
      return errorResponse(errors, new Refusal(401, 'Token Authentication failed'))
    case 'missing-scope':
      return errorResponse(errors, new Refusal(403, 'Token is missing required scope.', { missingScopes: ['unknown'] }))
    case 'rate-limit': {
      const { retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS } = fault
      const headers: Record<string, string> =
        retryAfterSeconds === null ? {} : { 'retry-after': `${retryAfterSeconds}` }
      return errorResponse(errors, new Refusal(429, 'Request rate limit exceeded.', { headers }))
    }
    case 'status':
      return statusResponse(fault, errors)
    default:
      return undefined
  }
}

function statusResponse(fault: Extract<Fault, { kind: 'status' }>, errors: ErrorForm): SimulatedResponse {
  const { status, body = 'api', message = `Simulated fault: status ${status}.`, headers = {}, bodyCode } = fault
  if (body === 'empty') return { status, headers, body: '' }
  if (body === 'html')
    return html(status, `<html><body><h1>${status}</h1><p>Simulated fault</p></body></html>`, headers)
  const details = { headers, ...(bodyCode !== undefined && { bodyCode }) }
  return errorResponse(errors, new Refusal(status, message, details))
}

function alter(response: SimulatedResponse, fault: Fault): SimulatedResponse {
  if (fault.kind === 'content-type') {
    return { ...response, headers: { ...response.headers, 'content-type': fault.contentType } }
  }
  if (fault.kind !== 'malformed-json' || isStreamed(response.body)) return response
  // Half of a JSON text is not valid JSON; an empty one becomes an opened object.
  const text = response.body.toString()
  return { ...response, body: text === '' ? '{' : text.slice(0, Math.ceil(text.length / 2)) }
}
