import { describe, expect, it } from 'vitest'
import { append, port, positiveInteger } from './option-values.ts'

describe('the value of an option', () => {
  it('is one of several when the option is repeated', () => {
    expect(append('b', append('a'))).toEqual(['a', 'b'])
  })

  it.each(['1', '250'])('may be the integer %s', (text) => {
    expect(positiveInteger(text)).toBe(Number(text))
  })

  it.each(['0', '-1', '1.5', 'ten', ''])('is rejected as a positive integer when it is "%s"', (text) => {
    expect(() => positiveInteger(text)).toThrow('It must be a positive integer.')
  })

  it.each(['0', '8080', '65535'])('may be the port %s', (text) => {
    expect(port(text)).toBe(Number(text))
  })

  it.each(['-1', '65536', '80.5', 'http', '', ' '])('is rejected as a port when it is "%s"', (text) => {
    expect(() => port(text)).toThrow('It must be a port between 0 and 65535.')
  })
})
