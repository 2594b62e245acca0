import { expect, test } from 'vitest'
import { ApiError, ConfigError, ConnectionError, CredentialsError, DeadlineExceededError } from './errors.ts'
import { explainFailure, isEnvironmentFailure } from './explain-failure.ts'

const target = { verb: 'list', group: '', version: 'v1', resource: 'pods', namespace: 'shop' } as const

const connection = (code: string, message = code) =>
  new ConnectionError(`list pods: ${message}`, 'connect', { cause: Object.assign(new Error(message), { code }) })

test.each([
  ['ECONNREFUSED', 'Check the address and whether the server runs'],
  ['ENOTFOUND', 'Check the host name and the DNS of this machine'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'Check certificate-authority in the kubeconfig'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'Check certificate-authority in the kubeconfig'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls-server-name'],
  ['CERT_HAS_EXPIRED', 'Renew the certificate of the server'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'check the port'],
])('a connection that fails with %s comes with its remedy', (code, remedy) => {
  const text = explainFailure(connection(code))
  expect(text).toMatch(/^cannot reach the API server: list pods: /)
  expect(text).toContain(remedy)
})

test('the server is named where the client knows it', () => {
  const server = 'https://127.0.0.1:6443'
  expect(explainFailure(new ConnectionError('list pods: self-signed certificate', 'connect', { server }))).toMatch(
    /^cannot reach the API server https:\/\/127\.0\.0\.1:6443: list pods: self-signed certificate\. /,
  )
  expect(explainFailure(new DeadlineExceededError(target, 5_000, { server }))).toMatch(
    /^the API server https:\/\/127\.0\.0\.1:6443 does not respond in time: .*no response within 5000 ms.* Check the load/,
  )
})

test('a call whose time was used up by failed connections has their remedy', () => {
  const error = new DeadlineExceededError(target, 5_000, { cause: connection('ENOTFOUND') })
  expect(explainFailure(error)).toContain('Check the host name and the DNS of this machine')
})

test('a proxy that fails is named instead of the server', () => {
  const error = new ConnectionError('list pods: 407', 'connect', { proxy: { host: 'proxy:3128', status: 407 } })
  expect(explainFailure(error)).toContain('Check the proxy proxy:3128')
})

test('attempts on several addresses count as the first of them', () => {
  const attempt = Object.assign(new Error('connect ECONNREFUSED ::1:6443'), { code: 'ECONNREFUSED' })
  const cause = new AggregateError([attempt], '')
  expect(explainFailure(new ConnectionError('list pods: connect', 'connect', { cause }))).toContain('server runs')
})

test('rejected credentials and missing permissions have different remedies', () => {
  expect(explainFailure(new ApiError(target, 401))).toMatch(
    /^the API server rejects the credentials: .*Check the token/,
  )
  expect(explainFailure(new ApiError(target, 403))).toMatch(/403 Forbidden.*Grant the account this permission/)
  expect(explainFailure(new CredentialsError('the exec plugin failed'))).toMatch(
    /^cannot authenticate: .*Check the token/,
  )
})

test('the remedy of a cause is that of the whole error', () => {
  const error = new Error('cache failed: list pods', { cause: connection('ECONNREFUSED') })
  expect(explainFailure(error)).toBe(
    'cannot reach the API server: cache failed: list pods. Check the address and whether the server runs.',
  )
})

test('other errors are their message', () => {
  expect(explainFailure(new ConfigError('KUBECONFIG names only files that do not exist: /x'))).toBe(
    'KUBECONFIG names only files that do not exist: /x',
  )
  expect(explainFailure('text')).toBe('text')
})

test.each([
  ['a connection', connection('ECONNREFUSED'), true],
  ['a response', new ApiError(target, 403), true],
  ['a port in use', Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' }), true],
  ['a bug', new TypeError('x is undefined'), false],
  ['a wrong argument', Object.assign(new TypeError('wrong'), { code: 'ERR_INVALID_ARG_TYPE' }), false],
])('%s is or is not a failure of the environment', (_, error, expected) => {
  expect(isEnvironmentFailure(error)).toBe(expected)
})
