/** Reads fault rules from the control API and from the page. */
import { isRecord } from '@reeve/http'
import type { Fault, FaultRule } from './fault-rules.ts'
import { violation } from './refusal.ts'

/** Faults that one button switches on. */
export const FAULT_PRESETS: Readonly<
  Record<string, { readonly title: string; readonly rule: Fault | ExpiredCertificate }>
> = {
  unauthorized: { title: '401, as for a revoked token', rule: { kind: 'unauthorized' } },
  'missing-scope': { title: '403, a scope is missing', rule: { kind: 'missing-scope' } },
  'rate-limit': { title: '429 with Retry-After', rule: { kind: 'rate-limit', retryAfterSeconds: 5 } },
  'server-error': { title: '500 in JSON', rule: { kind: 'status', status: 500 } },
  unavailable: { title: '503 in JSON', rule: { kind: 'status', status: 503 } },
  'proxy-page': { title: '503 as a page of a proxy', rule: { kind: 'status', status: 503, body: 'html' } },
  slow: { title: 'slow: 10 seconds', rule: { kind: 'slow', delayMs: 10_000 } },
  cut: { title: 'connection cut before the headers', rule: { kind: 'cut' } },
  'cut-body': { title: 'connection cut in the body', rule: { kind: 'cut', afterBytes: 20 } },
  'content-type': { title: 'wrong content type', rule: { kind: 'content-type', contentType: 'text/html' } },
  'malformed-json': { title: 'malformed JSON', rule: { kind: 'malformed-json' } },
  'expired-certificate': { title: 'expired certificate', rule: { kind: 'expired-certificate' } },
}

interface ExpiredCertificate {
  readonly kind: 'expired-certificate'
}

/**
 * A rule out of JSON, in the form of {@link FaultRule}, or with `preset` instead of `kind`.
 *
 * *Errors*: 400 naming the field that is wrong.
 */
export function readFaultRule(value: unknown): FaultRule {
  if (!isRecord(value)) throw wrong('', 'must be a JSON object')
  const fault = readFault(value)
  if (fault.kind === 'expired-certificate') return fault
  const times = wholeNumber(value, 'times')
  const match = { ...text(value, 'tenant'), ...text(value, 'operation'), ...text(value, 'method') }
  return {
    ...fault,
    ...match,
    ...text(value, 'path'),
    ...text(value, 'token'),
    ...(times !== undefined && { times }),
  }
}

function readFault(value: Readonly<Record<string, unknown>>): Fault | ExpiredCertificate {
  if (value.preset !== undefined) {
    const preset = typeof value.preset === 'string' ? FAULT_PRESETS[value.preset] : undefined
    if (preset === undefined) throw wrong('preset', `must be one of ${Object.keys(FAULT_PRESETS).join(', ')}`)
    return preset.rule
  }
  switch (value.kind) {
    case 'unauthorized':
    case 'missing-scope':
    case 'malformed-json':
    case 'expired-certificate':
      return { kind: value.kind }
    case 'rate-limit': {
      if (value.retryAfterSeconds === null) return { kind: 'rate-limit', retryAfterSeconds: null }
      const retryAfterSeconds = wholeNumber(value, 'retryAfterSeconds')
      return { kind: 'rate-limit', ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
    }
    case 'slow':
      return { kind: 'slow', delayMs: required(value, 'delayMs') }
    case 'cut': {
      const afterBytes = wholeNumber(value, 'afterBytes')
      return { kind: 'cut', ...(afterBytes !== undefined && { afterBytes }) }
    }
    case 'content-type': {
      const { contentType } = text(value, 'contentType')
      if (contentType === undefined || /[\r\n]/.test(contentType)) throw wrong('contentType', 'must be a text')
      return { kind: 'content-type', contentType }
    }
    case 'status':
      return readStatus(value)
    default:
      throw wrong('kind', `${JSON.stringify(value.kind)} is not a kind of fault`)
  }
}

function readStatus(value: Readonly<Record<string, unknown>>): Fault {
  const status = required(value, 'status')
  if (status < 200 || status > 599) throw wrong('status', 'must be between 200 and 599')
  const bodyCode = wholeNumber(value, 'bodyCode')
  const body = value.body === 'html' || value.body === 'empty' ? value.body : 'api'
  return { kind: 'status', status, body, ...text(value, 'message'), ...(bodyCode !== undefined && { bodyCode }) }
}

const MAX_NUMBER = 1_000_000_000

function required(value: Readonly<Record<string, unknown>>, name: string): number {
  const number = wholeNumber(value, name)
  if (number === undefined) throw wrong(name, 'must not be null')
  return number
}

function wholeNumber(value: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const number = value[name]
  if (number === undefined) return undefined
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MAX_NUMBER) return number
  throw wrong(name, `must be a whole number from 0 to ${MAX_NUMBER}`)
}

function text<Name extends string>(
  value: Readonly<Record<string, unknown>>,
  name: Name,
): { readonly [Each in Name]?: string } {
  const content = value[name]
  if (content === undefined) return {}
  if (typeof content !== 'string') throw wrong(name, 'must be a text')
  return { [name]: content } as { readonly [Each in Name]?: string } // a computed name is only known as a string
}

function wrong(path: string, message: string) {
  return violation('PAYLOAD_BODY', path, message)
}
