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
