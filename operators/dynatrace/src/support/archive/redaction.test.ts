/** Secrets in the odd places where people put them. None of these values is in a Secret, unless the test says so. */
import { gzipSync } from 'node:zlib'
import { type KubeClient, Secrets } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { redactedLog } from './log-lines.ts'
import { redactionFor, redactObject, redactPatterns } from './redaction.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('a text', () => {
  it.each([
    ['a setting', 'spring.datasource.password=Tr0ub4dor'],
    ['a setting in quotes', 'db.password = "Tr0ub4dor and more"'],
    ['an argument', 'starting app --db-password Tr0ub4dor --port 80'],
    ['an argument with =', 'java -Dclient.secret=Tr0ub4dor -jar app.jar'],
    ['a query', 'GET https://host/path?api_key=Tr0ub4dor&x=1'],
    ['JSON', '{"user":"a","password":"Tr0ub4dor","port":1}'],
    ['JSON in JSON', String.raw`{"body":"{\"accessKey\":\"Tr0ub4dor\"}"}`],
    ['YAML', 'users:\n  - name: a\n    password: Tr0ub4dor\n'],
    ['a header', 'Authorization: Token Tr0ub4dor'],
    ['a cookie', 'Cookie: session=Tr0ub4dor'],
    ['a sentence', 'rejected the password: Tr0ub4dor of user a'],
    ['a URL with unencoded characters', 'jdbc:postgresql://app:p@ss/Tr0ub4dor@db:5432/shop'],
    ['a shell command', 'export DB_PASS=Tr0ub4dor; run'],
    ['base64 of a document', `state: ${base64('{"password":"Tr0ub4dor","port":5432}')} end`],
    ['a connection string', 'SQL_CONNECTION_STRING="Server=db;Pwd=Tr0ub4dor"'],
  ])('shows no secret in %s', (_, text) => {
    const safe = redactPatterns(text)
    expect(safe).not.toContain('Tr0ub4dor')
    expect(safe).toContain('[redacted]')
  })

  it.each([
    ['AWS', 'AKIAIOSFODNN7EXAMPLE'],
    ['GitHub', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
    ['Slack', ['xoxb', '123456789012', 'abcdefGHIJKL'].join('-')],
    ['bcrypt', '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW'],
    ['JSON web tokens', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27uhbUJU1p1r_wW1g'],
    ['Dynatrace', 'dt0s16.ABCDEFGH.ABCDEFGHIJKLMNOP'],
  ])('shows no token of %s', (_, token) => {
    expect(redactPatterns(`using ${token} for it`)).toBe('using [redacted] for it')
  })

  it.each([
    'the token of the DynaKube dynatrace/dynakube has no scope "entities.read"',
    'secret "dynakube" not found',
    'listening on https://0.0.0.0:8443/inject',
    'reconciled namespace=shop name=dynakube generation=12 took 120ms',
    'certificate 3a1f0c9be2d44c4a8a1f0c9be2d44c4a8a1f0c9b is valid',
    'pulled image registry.example.com/dynatrace/oneagent:1.300.0@sha256:0123456789abcdef0123456789abcdef',
  ])('stays readable: %s', (text) => expect(redactPatterns(text)).toBe(text))
})

describe('an object', () => {
  it('shows no secret in variables, arguments, annotations, binary data, keys and messages', () => {
    const value = 'Tr0ub4dor'
    const object = {
      metadata: {
        annotations: { 'example.com/pwd': value, note: `token=${value}`, [`x-dt0c01.ABCDEFGH.${value}`]: 'as a key' },
      },
      data: { DB_PASS: value, 'app.yaml': `server:\n  password: ${value}\n`, user: 'admin' },
      binaryData: { keystore: base64(`keystore with ${value}`) },
      spec: {
        containers: [
          {
            name: 'main',
            args: ['--token', value, '--user', 'admin', `--client-secret=${value}`],
            command: ['sh', '-c', `PGPASSWORD=${value} psql`],
            env: [
              { name: 'ENCRYPTION_KEY', value },
              { name: 'REDIS_DSN', value: `redis://:${value}@redis` },
              { name: 'MODE', value: 'fast' },
            ],
          },
        ],
      },
      status: { conditions: [{ message: `login failed: password=${value}` }] },
    }
    const safe = JSON.stringify(redactObject(object, redactPatterns))
    expect(safe).not.toContain(value)
    expect(safe).not.toContain(base64(`keystore with ${value}`))
    for (const kept of ['admin', 'fast', '--user', 'main']) expect(safe).toContain(kept)
  })
})

describe('values of Secrets', () => {
  const secrets = (items: readonly object[]): KubeClient =>
    // Only listing is used.
    ({ listAll: async (resource: unknown) => ({ items: resource === Secrets ? items : [] }) }) as never

  it.each([
    ['a short password', { data: { password: base64('tiger') } }, 'tiger'],
    ['a setting in a file', { data: { 'app.properties': base64('a=b\ndb.password=plainword\n') } }, 'plainword'],
    ['a line of several', { data: { value: base64('first-line\nsecond-line\n') } }, 'second-line'],
    ['a docker config', { data: { '.dockerconfigjson': base64('{"auths":{"r":{"password":"whale"}}}') } }, 'whale'],
    [
      'a value given to Helm',
      {
        type: 'helm.sh/release.v1',
        data: { release: base64(base64Gzip({ config: { db: { password: 'from-values' } } })) },
      },
      'from-values',
    ],
  ])('are replaced wherever they occur: %s', async (_, secret, value) => {
    const redact = await redactionFor(secrets([secret]), 'dynatrace', AbortSignal.timeout(60_000))
    for (const text of [
      `log ${value} line`,
      `in base64 ${base64(`prefix ${value} and more text`)}`,
      encodeURIComponent(value),
    ]) {
      expect(redact(text)).not.toContain(value)
      expect(redact(text)).toContain('[redacted]')
    }
  })
})

describe('a log', () => {
  async function redacted(text: string): Promise<string> {
    let safe = ''
    const chunks = (async function* () {
      yield Buffer.from(text)
    })()
    for await (const block of redactedLog(chunks, redactPatterns)) safe += block
    return safe
  }

  it('shows no line of a private key', async () => {
    const key = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIB\nAwEHoUQDQg\n-----END EC PRIVATE KEY-----'
    expect(await redacted(`before\n${key}\nafter\n`)).toMatch(/^before\n\[redacted\]\s*after\n$/)
  })

  it('shows no secret at the place where a long line is cut', async () => {
    const filler = 'x'.repeat(256 * 1024 - 10)
    expect(await redacted(`${filler} password=Tr0ub4dor-Tr0ub4dor end\n`)).not.toContain('Tr0ub4dor')
  })
})

function base64Gzip(value: object): string {
  return gzipSync(JSON.stringify(value)).toString('base64')
}
