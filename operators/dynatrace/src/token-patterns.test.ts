import { redactText } from '@reeve/http'
import { expect, it } from 'vitest'
import { DYNATRACE_TOKENS } from './token-patterns.ts'

it.each([
  ['sent Api-Token abc123 to it', 'sent Api-Token [redacted] to it'],
  ['the token dt0c01.PUBLIC.SECRET is unknown', 'the token [redacted] is unknown'],
  ['client dt0s02.ABC.DEF', 'client [redacted]'],
  ['no Api-Token is set', 'no Api-Token is set'],
  ['the token dt0c01.PUBLIC is only a name', 'the token dt0c01.PUBLIC is only a name'],
])('the log shows %j as %j', (text, safe) => {
  expect(redactText(text, DYNATRACE_TOKENS)).toBe(safe)
})

it('the search for tokens takes no longer for white space than for any other text', () => {
  // Restarting at each blank would take minutes.
  const text = ' '.repeat(500_000)
  expect(redactText(text, DYNATRACE_TOKENS)).toBe(text)
})
