import fc from 'fast-check'
import { expect, it } from 'vitest'
import { redactSecrets, redactText } from './redact-text.ts'

it('replaces a known secret in every form in which it travels', () => {
  const secret = 'p"a+ss/1'
  const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'), JSON.stringify(secret)]
  const safe = redactSecrets(forms.join(' '), [secret])
  expect(safe).toBe('[redacted] [redacted] [redacted] "[redacted]"')
})

it('takes any text as a secret', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 4 }), (secret) => {
      expect(redactSecrets(`<${secret}>`, [secret])).toBe('<[redacted]>')
    }),
  )
})

it('replaces what the caller calls a secret besides what always is one', () => {
  expect(redactText('Bearer abcdef used v1-123', [/\bv1-\d+/g])).toBe('Bearer [redacted] used [redacted]')
})

it.each(['-eyJ', 'eyJ-', 'eyJa.', ' ', '//', 'authorization: ', 'Bearer ', '-----BEGIN '])(
  'takes time that grows with the text only: %j over and over',
  (part) => {
    // Tried from each part anew to the end of the text, this would take minutes.
    const text = part.repeat(Math.ceil(600_000 / part.length))
    expect(redactText(text).length).toBeGreaterThan(0)
  },
)

it.each([' ', '"', '=', ':', '/', '(', '\n'])('finds a JSON web token after %j', (before) => {
  expect(redactText(`${before}eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0abc.c2lnbmF0dXJl`)).toBe(`${before}[redacted]`)
})
