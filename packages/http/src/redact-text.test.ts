import fc from 'fast-check'
import { expect, it } from 'vitest'
import { redactSecrets, redactText } from './redact-text.ts'

it('redaction replaces a known secret in every encoding in which it is sent', () => {
  const secret = 'p"a+ss/1'
  const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'), JSON.stringify(secret)]
  const safe = redactSecrets(forms.join(' '), [secret])
  expect(safe).toBe('[redacted] [redacted] [redacted] "[redacted]"')
})

it('redaction accepts any text as a secret', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 4 }), (secret) => {
      expect(redactSecrets(`<${secret}>`, [secret])).toBe('<[redacted]>')
    }),
  )
})

it('redaction also replaces matches of the caller’s patterns', () => {
  expect(redactText('Bearer abcdef used v1-123', [/\bv1-\d+/g])).toBe('Bearer [redacted] used [redacted]')
})

it.each(['-eyJ', 'eyJ-', 'eyJa.', ' ', '//', 'authorization: ', 'Bearer ', '-----BEGIN '])(
  'redaction takes linear time: %j repeated',
  (part) => {
    // Matching each part again to the end of the text would take minutes.
    const text = part.repeat(Math.ceil(600_000 / part.length))
    expect(redactText(text).length).toBeGreaterThan(0)
  },
)

it.each([' ', '"', '=', ':', '/', '(', '\n'])('redaction finds a JSON web token after %j', (before) => {
  expect(redactText(`${before}eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0abc.c2lnbmF0dXJl`)).toBe(`${before}[redacted]`)
})

it('redaction searches for every secret in every text that may have one', () => {
  const parts = [
    'Authorization: abcdef',
    'authorization',
    'bearer',
    'Bearer abcdef',
    'eyJ',
    'eyJhbGciOiJS.eyJzdWIiOiJ.x',
  ]
  const keys = [
    '-----BEGIN RSA PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    'https://user:hunter2@host',
    '//',
    ' ',
    'x',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts, ...keys), { maxLength: 6 }), (chosen) => {
      const text = chosen.join('')
      // A text that contains slashes is always searched for all of them.
      expect(redactText(`//\n${text}`)).toBe(`//\n${redactText(text)}`)
    }),
  )
})
