import { describe, expect, it } from 'vitest'
import { matchesFormat } from './formats.ts'

describe('the format duration', () => {
  it.each(['0', '1h30m', '-1.5s', '.5ms', '1.h', '3 days', '2weeks 1 day', '10 Minutes'])('takes %s', (text) => {
    expect(matchesFormat('duration', text)).toBe(true)
  })

  it.each(['', '1', 'h', '3 fortnights', '-'])('refuses %j', (text) => {
    expect(matchesFormat('duration', text)).toBe(false)
  })

  it.each(['1', '1 ', '.1', '1.', '1h'])(
    'is decided in time that grows with the text only: %j over and over',
    (part) => {
      // Restarting at each digit would take minutes.
      expect(matchesFormat('duration', `${part.repeat(500_000 / part.length)}!`)).toBe(part === '1h')
    },
  )
})
