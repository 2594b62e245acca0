import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CronSyntaxError, parseSchedule } from './cron-schedule.ts'

const at = (text: string) => Date.parse(text)

function next(schedule: string, after: string, timeZone?: string): string | undefined {
  const nextMs = parseSchedule(schedule, timeZone).next(at(after))
  return nextMs === undefined ? undefined : new Date(nextMs).toISOString().replace('.000', '')
}

describe('the next time of a schedule', () => {
  const cases: [schedule: string, after: string, expected: string][] = [
    ['* * * * *', '2030-01-01T00:00:00Z', '2030-01-01T00:01:00Z'],
    ['* * * * *', '2030-01-01T00:00:59.999Z', '2030-01-01T00:01:00Z'],
    ['*/15 * * * *', '2030-01-01T00:16:00Z', '2030-01-01T00:30:00Z'],
    ['5/20 * * * *', '2030-01-01T00:26:00Z', '2030-01-01T00:45:00Z'],
    ['0 9-17/4 * * *', '2030-01-01T09:00:00Z', '2030-01-01T13:00:00Z'],
    ['30 2 * * *', '2030-01-01T02:30:00Z', '2030-01-02T02:30:00Z'],
    ['0 0 * * mon-fri', '2030-01-04T12:00:00Z', '2030-01-07T00:00:00Z'],
    ['0 0 1 jan,JUL *', '2030-01-01T00:00:00Z', '2030-07-01T00:00:00Z'],
    ['0 0 29 2 *', '2030-01-01T00:00:00Z', '2032-02-29T00:00:00Z'],
    ['0 0 29 2 0', '2030-01-01T00:00:00Z', '2030-02-03T00:00:00Z'],
    ['0 0 13 * 5', '2030-01-01T00:00:00Z', '2030-01-04T00:00:00Z'],
    ['0 0 13 * ?', '2030-01-01T00:00:00Z', '2030-01-13T00:00:00Z'],
    ['@hourly', '2030-01-01T00:30:00Z', '2030-01-01T01:00:00Z'],
    ['@daily', '2030-01-01T00:30:00Z', '2030-01-02T00:00:00Z'],
    ['@weekly', '2030-01-01T00:30:00Z', '2030-01-06T00:00:00Z'],
    ['@monthly', '2030-01-01T00:30:00Z', '2030-02-01T00:00:00Z'],
    ['@every 1h30m', '2030-01-01T00:30:00.500Z', '2030-01-01T02:00:00Z'],
    ['@yearly', '2030-01-01T00:30:00Z', '2031-01-01T00:00:00Z'],
  ]
  for (const [schedule, after, expected] of cases) {
    it(`"${schedule}" after ${after} is ${expected}`, () => {
      expect(next(schedule, after)).toBe(expected)
    })
  }

  it('is undefined for a day that does not exist', () => {
    expect(next('0 0 31 2 *', '2030-01-01T00:00:00Z')).toBeUndefined()
  })

  it('uses the local time of its time zone', () => {
    expect(next('0 9 * * *', '2030-01-10T00:00:00Z', 'Europe/Vienna')).toBe('2030-01-10T08:00:00Z')
    expect(next('0 9 * * *', '2030-07-10T00:00:00Z', 'Europe/Vienna')).toBe('2030-07-10T07:00:00Z')
    expect(next('30 23 * * *', '2030-01-10T12:00:00Z', 'Asia/Tokyo')).toBe('2030-01-10T14:30:00Z')
  })

  it('skips an hour that does not exist at the start of daylight saving time, and runs once in the repeated hour', () => {
    expect(next('30 2 * * *', '2030-03-30T12:00:00Z', 'Europe/Vienna')).toBe('2030-04-01T00:30:00Z')
    const first = next('30 2 * * *', '2030-10-26T12:00:00Z', 'Europe/Vienna')
    expect(first).toBe('2030-10-27T01:30:00Z')
    expect(next('30 2 * * *', first ?? '', 'Europe/Vienna')).toBe('2030-10-28T01:30:00Z')
  })

  it('is always later than the given time, on a full minute, with no match in between', () => {
    const part = (min: number, max: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min, max }).map(String),
        fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
      )
    const schedule = fc
      .tuple(part(0, 59), part(0, 23), part(1, 28), part(1, 12), part(0, 6))
      .map((fields) => fields.join(' '))
    fc.assert(
      fc.property(schedule, fc.integer({ min: at('2030-01-01'), max: at('2034-01-01') }), (text, afterMs) => {
        const cron = parseSchedule(text)
        const nextMs = cron.next(afterMs) ?? 0
        expect(nextMs).toBeGreaterThan(afterMs)
        expect(nextMs % 60_000).toBe(0)
        expect(cron.next(nextMs - 1)).toBe(nextMs)
        expect(cron.next(afterMs + Math.floor((nextMs - 1 - afterMs) / 2))).toBe(nextMs)
      }),
    )
  })
})

describe('the latest time of a schedule', () => {
  const latest = (schedule: string, after: string, now: string) => {
    const latestMs = parseSchedule(schedule).latest(at(after), at(now))
    return latestMs === undefined ? undefined : new Date(latestMs).toISOString().replace('.000', '')
  }

  it('is found over years of missed runs', () => {
    expect(latest('* * * * *', '2020-01-01T00:00:00Z', '2030-01-01T00:00:30Z')).toBe('2030-01-01T00:00:00Z')
    expect(latest('0 9 * * mon-fri', '2020-01-01T00:00:00Z', '2030-01-06T12:00:00Z')).toBe('2030-01-04T09:00:00Z')
    expect(latest('* 0 1 1 *', '2020-01-01T00:00:00Z', '2030-06-01T00:00:00Z')).toBe('2030-01-01T00:59:00Z')
  })

  it('includes the current instant and excludes the given one', () => {
    expect(latest('@hourly', '2030-01-01T00:00:00Z', '2030-01-01T01:00:00Z')).toBe('2030-01-01T01:00:00Z')
    expect(latest('@hourly', '2030-01-01T00:00:00Z', '2030-01-01T00:59:59Z')).toBeUndefined()
  })

  it('is counted from the last run for intervals', () => {
    expect(latest('@every 1h', '2030-01-01T00:00:07Z', '2030-01-01T03:30:00Z')).toBe('2030-01-01T03:00:07Z')
    expect(latest('@every 1h', '2030-01-01T00:00:07Z', '2030-01-01T01:00:06Z')).toBeUndefined()
  })

  it('is the last of all times in between', () => {
    const schedule = fc.constantFrom('*/7 * * * *', '0 */5 * * *', '30 2 * * 1,4', '15 1-3 * * *')
    const start = fc.integer({ min: at('2030-01-01'), max: at('2030-03-01') })
    fc.assert(
      fc.property(schedule, start, fc.integer({ min: 0, max: 3 * 86_400_000 }), (text, afterMs, spanMs) => {
        const cron = parseSchedule(text)
        let expected: number | undefined
        for (let time = cron.next(afterMs); time !== undefined && time <= afterMs + spanMs; time = cron.next(time)) {
          expected = time
        }
        expect(cron.latest(afterMs, afterMs + spanMs)).toBe(expected)
      }),
      { numRuns: 50 },
    )
  })
})

describe('an invalid schedule', () => {
  const cases: [schedule: string, complaint: RegExp][] = [
    ['', /expected 5 fields/],
    ['* * * *', /expected 5 fields, found 4/],
    ['60 * * * *', /minute "60" is not between 0 and 59/],
    ['* 24 * * *', /hour "24"/],
    ['* * 0 * *', /day of month "0"/],
    ['* * * 13 *', /month "13"/],
    ['* * * * 7', /day of week "7"/],
    ['* * * * someday', /day of week "someday"/],
    ['30-10 * * * *', /ends before it begins/],
    ['*/0 * * * *', /has a step of 0/],
    ['*-5 * * * *', /is not a range/],
    ['1,, * * * *', /is not a value, range or step/],
    ['@fortnightly', /expected 5 fields/],
    ['__proto__', /expected 5 fields/],
    ['constructor', /expected 5 fields/],
    ['@every moment', /"moment" is not a duration/],
  ]
  for (const [schedule, complaint] of cases) {
    it(`"${schedule}" is rejected with a reason`, () => {
      expect(() => parseSchedule(schedule)).toThrow(CronSyntaxError)
      expect(() => parseSchedule(schedule)).toThrow(complaint)
    })
  }

  it('is rejected for an unknown time zone', () => {
    expect(() => parseSchedule('* * * * *', 'Mars/Olympus')).toThrow(/unknown time zone "Mars\/Olympus"/)
  })
})
