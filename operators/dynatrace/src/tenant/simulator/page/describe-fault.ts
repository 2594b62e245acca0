/** Describes a fault rule in words. */
import type { FaultRule } from '../fault-rules.ts'

/**
 * What a rule does, to which calls, and how often.
 *
 * @example
 * describeFault({ kind: 'status', status: 503, operation: 'agent-connection-info', times: 3 })
 * // 'status 503 for agent-connection-info, 3 times'
 */
export function describeFault(rule: FaultRule): string {
  if (rule.kind === 'expired-certificate') return 'expired certificate'
  return `${effectOf(rule)} for ${callsOf(rule)}${timesOf(rule.times)}`
}

type CallRule = Exclude<FaultRule, { readonly kind: 'expired-certificate' }>

function effectOf(rule: CallRule): string {
  switch (rule.kind) {
    case 'unauthorized':
      return 'status 401'
    case 'missing-scope':
      return 'status 403, a scope is missing,'
    case 'rate-limit':
      return rule.retryAfterSeconds === null
        ? 'status 429 without Retry-After'
        : `status 429 with Retry-After${rule.retryAfterSeconds === undefined ? '' : ` ${rule.retryAfterSeconds} s`}`
    case 'status':
      return `status ${rule.status}${rule.body === 'html' ? ' with an HTML page' : rule.body === 'empty' ? ' without a body' : ''}`
    case 'slow':
      return `${rule.delayMs} ms delay`
    case 'cut':
      return rule.afterBytes === undefined
        ? 'connection cut before the headers'
        : `connection cut after ${rule.afterBytes} bytes of the body`
    case 'content-type':
      return `content type ${rule.contentType}`
    case 'malformed-json':
      return 'malformed JSON'
  }
}

function callsOf({ operation, method, path, tenant, token }: CallRule): string {
  return [
    operation ?? 'every call',
    method && `by ${method}`,
    path && `to ${path}`,
    tenant && `of tenant ${tenant}`,
    token && `with ${token}`,
  ]
    .filter(Boolean)
    .join(' ')
}

function timesOf(times: number | undefined): string {
  if (times === undefined) return ', until removed'
  return times === 1 ? ', once' : `, ${times} times`
}
