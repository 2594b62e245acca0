/** Turns a normal response into the one that a fault rule asks for. */
import { type Clock, sleep } from '@reeve/kube'
import type { Fault } from './fault-rules.ts'
import { type Answer, html, isStreamed } from './http/answer.ts'
import { type ErrorForm, Refusal, refusalAnswer } from './http/refusal.ts'

/** A response, and where the connection is closed while it is sent. */
export interface FaultyAnswer {
  readonly answer: Answer
  /** -1: before the headers. Undefined: it is sent whole. */
  readonly cutAfterBytes?: number | undefined
}

const DEFAULT_RETRY_AFTER_SECONDS = 1

/**
 * Answers a call with these faults: first it is slow, then it is refused or answered, and what is
 * answered may be spoiled or cut.
 */
export async function injectFaults(
  faults: readonly Fault[],
  errors: ErrorForm,
  answer: () => Promise<Answer>,
  options: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<FaultyAnswer> {
  const slow = faults.find((fault) => fault.kind === 'slow')
  if (slow !== undefined) await sleep(slow.delayMs, options)
  const refused = faults.map((fault) => refusal(fault, errors)).find((each) => each !== undefined)
  const spoiled = faults.reduce(spoil, refused ?? (await answer()))
  const cut = faults.find((fault) => fault.kind === 'cut')
  return cut === undefined ? { answer: spoiled } : { answer: spoiled, cutAfterBytes: cut.afterBytes ?? -1 }
}

function refusal(fault: Fault, errors: ErrorForm): Answer | undefined {
  switch (fault.kind) {
    case 'unauthorized':
      return refusalAnswer(errors, new Refusal(401, 'Token Authentication failed'))
    case 'missing-scope':
      return refusalAnswer(errors, new Refusal(403, 'Token is missing required scope.', { missingScopes: ['unknown'] }))
    case 'rate-limit': {
      const { retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS } = fault
      const headers: Record<string, string> =
        retryAfterSeconds === null ? {} : { 'retry-after': `${retryAfterSeconds}` }
      return refusalAnswer(errors, new Refusal(429, 'Request rate limit exceeded.', { headers }))
    }
    case 'status':
      return statusAnswer(fault, errors)
    default:
      return undefined
  }
}

function statusAnswer(fault: Extract<Fault, { kind: 'status' }>, errors: ErrorForm): Answer {
  const { status, body = 'api', message = `Simulated fault: status ${status}.`, headers = {}, bodyCode } = fault
  if (body === 'empty') return { status, headers, body: '' }
  if (body === 'html')
    return html(status, `<html><body><h1>${status}</h1><p>Simulated fault</p></body></html>`, headers)
  const details = { headers, ...(bodyCode !== undefined && { bodyCode }) }
  return refusalAnswer(errors, new Refusal(status, message, details))
}

function spoil(answer: Answer, fault: Fault): Answer {
  if (fault.kind === 'content-type') {
    return { ...answer, headers: { ...answer.headers, 'content-type': fault.contentType } }
  }
  if (fault.kind !== 'malformed-json' || isStreamed(answer.body)) return answer
  // Half of a JSON text is not valid JSON; an empty one becomes an opened object.
  const text = answer.body.toString()
  return { ...answer, body: text === '' ? '{' : text.slice(0, Math.ceil(text.length / 2)) }
}
