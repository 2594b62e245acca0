/** Errors name the object, contain the facts and no secrets. */
import { describe, expect, it } from 'vitest'
import * as is from './error-predicates.ts'
import { ApiError, ConnectionError, DeadlineExceededError } from './errors.ts'
import type { Status } from './objects.ts'
import type { RequestTarget } from './request-target.ts'

const target: RequestTarget = { verb: 'apply', group: 'apps', resource: 'deployments', namespace: 'shop', name: 'web' }
const status = (more: Partial<Status>): Status => ({ apiVersion: 'v1', kind: 'Status', ...more })

describe('ApiError', () => {
  it('contains verb, resource, object and the reason of the server', () => {
    const error = new ApiError(target, 409, {
      body: status({ reason: 'Conflict', message: 'fields are owned by helm' }),
    })
    expect(error.message).toBe('apply deployments.apps "shop/web": 409 Conflict: fields are owned by helm')
    expect(error.code).toBe('KUBE_API')
  })

  it('derives a reason for responses of proxies and contains their type instead of quoting them', () => {
    const error = new ApiError(target, 503, { contentType: 'text/html' })
    expect(error.message).toMatch(/503 ServiceUnavailable \(the response is text\/html, not a Status\)$/)
  })

  it('names the CRD to install when its path is not served', () => {
    const webapps: RequestTarget = { verb: 'list', group: 'example.com', version: 'v1', resource: 'webapps' }
    const error = new ApiError(webapps, 404, { contentType: 'text/plain' })
    expect(error.message).toBe(
      'list webapps.example.com: 404 NotFound: the CRD webapps.example.com is not installed, or does not serve v1; apply it',
    )
    const routes = { ...webapps, group: 'apps', resource: 'deployments' }
    expect(new ApiError(routes, 404, { contentType: 'text/plain' }).message).toMatch(
      /the server does not serve deployments in apps\/v1; check its version$/,
    )
  })

  it('bounds the message of the server', () => {
    const error = new ApiError(target, 422, { body: status({ message: 'x'.repeat(100_000) }) })
    expect(error.message.length).toBeLessThan(3_000)
  })

  it('withholds the message of the server about an unreadable Secret, but keeps the invalid fields', () => {
    const secret: RequestTarget = { verb: 'create', group: '', resource: 'secrets', namespace: 'shop', name: 'db' }
    const causes = [{ reason: 'FieldValueInvalid', field: 'data[password]', message: 'invalid: "hunter2"' }]
    const error = new ApiError(secret, 422, {
      body: status({ message: 'found in {"password":"hunter2"}', details: { causes } }),
    })
    expect(error.message).toMatch(/^create secrets "shop\/db": 422 Invalid \(the server message is withheld/)
    expect(error.causes).toEqual([{ reason: 'FieldValueInvalid', field: 'data[password]' }])
    expect(JSON.stringify(error) + error.stack).not.toContain('hunter2')
  })

  it('still contains why a Secret was not found or not allowed', () => {
    const secret: RequestTarget = { verb: 'get', group: '', resource: 'secrets', namespace: 'shop', name: 'db' }
    expect(new ApiError(secret, 403, { body: status({ message: 'user x cannot' }) }).message).toContain('user x cannot')
  })

  it('prefers the delay in the header to that in the body', () => {
    const body = status({ details: { retryAfterSeconds: 3 } })
    expect(new ApiError(target, 429, { body, retryAfterMs: 1_000 }).retryAfterMs).toBe(1_000)
    expect(new ApiError(target, 429, { body }).retryAfterMs).toBe(3_000)
    expect(new ApiError(target, 429).retryAfterMs).toBeUndefined()
  })
})

describe('predicates', () => {
  const api = (code: number, reason?: string, details?: Status['details']) =>
    new ApiError(target, code, reason === undefined ? {} : { body: status({ reason, ...(details && { details }) }) })

  it.each([
    ['isNotFound', is.isNotFound, api(404, 'NotFound')],
    ['isConflict', is.isConflict, api(409, 'Conflict')],
    ['isAlreadyExists', is.isAlreadyExists, api(409, 'AlreadyExists')],
    ['isForbidden', is.isForbidden, api(403)],
    ['isUnauthorized', is.isUnauthorized, api(401)],
    ['isInvalid', is.isInvalid, api(422, 'Invalid')],
    ['isBadRequest', is.isBadRequest, api(400)],
    ['isGone', is.isGone, api(410, 'Gone')],
    ['isExpired', is.isExpired, api(410, 'Expired')],
    ['isTooManyRequests', is.isTooManyRequests, api(429)],
    ['isServerTimeout', is.isServerTimeout, api(500, 'ServerTimeout')],
    ['isRequestTooLarge', is.isRequestTooLarge, api(413)],
    ['isApplyConflict', is.isApplyConflict, api(409, 'Conflict', { causes: [{ reason: 'FieldManagerConflict' }] })],
    [
      'isNamespaceTerminating',
      is.isNamespaceTerminating,
      api(403, 'Forbidden', { causes: [{ reason: 'NamespaceTerminating' }] }),
    ],
  ])('%s recognizes its error and nothing unrelated', (_name, predicate, error) => {
    expect(predicate(error)).toBe(true)
    expect(predicate(api(418))).toBe(false)
    expect(predicate(new Error('404 409 410'))).toBe(false)
    expect(predicate(undefined)).toBe(false)
  })

  it('distinguishes an existing object from a conflict', () => {
    expect(is.isConflict(api(409, 'AlreadyExists'))).toBe(false)
    expect(is.isAlreadyExists(api(409, 'Conflict'))).toBe(false)
  })

  it('distinguishes a missing object from a kind that is not served', () => {
    expect(is.isNotServed(api(404, 'NotFound', { name: 'web' }))).toBe(false)
    expect(is.isNotServed(api(404))).toBe(true)
  })

  it('classifies overload, timeouts and lost connections as retryable, other errors not', () => {
    expect(is.isRetryable(api(503))).toBe(true)
    expect(is.isRetryable(api(429))).toBe(true)
    expect(is.isRetryable(new ConnectionError('reset', 'request'))).toBe(true)
    expect(is.isRetryable(new DeadlineExceededError(target, 5))).toBe(true)
    expect(is.isRetryable(api(422))).toBe(false)
    expect(is.isRetryable(new Error('bug'))).toBe(false)
  })
})
