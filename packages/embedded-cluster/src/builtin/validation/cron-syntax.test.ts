import { describe, expect, it } from 'vitest'
import { cronProblem } from './cron-syntax.ts'

describe('a cron schedule', () => {
  it.each(['* * * * *', '*/5 0-12/2 1,15 jan-mar MON', '0 0 ? * 0', '@daily', '@every 1h30m', 'TZ=UTC 0 0 * * *'])(
    '%s is valid',
    (schedule) => {
      expect(cronProblem(schedule)).toBeUndefined()
    },
  )

  it.each([
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['every day', 'expected exactly 5 fields, found 2: [every day]'],
    ['@sometimes', 'unrecognized descriptor: @sometimes'],
    ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  ])('%s is invalid, with the message of the server', (schedule, problem) => {
    expect(cronProblem(schedule)).toBe(problem)
  })
})
