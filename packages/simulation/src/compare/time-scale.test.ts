import { describe, expect, it } from 'vitest'
import { areAlikeTimes, describeNumber, describeTimes, type TimeScale } from './time-scale.ts'

const startMs = Date.UTC(2030, 0, 1)
const scale: TimeScale = {
  startMs,
  nowMs: startMs + 100_000,
  steps: [
    { name: 'create', atMs: startMs + 1_000 },
    { name: 'edit', atMs: startMs + 40_000 },
  ],
}
const at = (seconds: number) => new Date(startMs + seconds * 1_000).toISOString()

describe('times of a run', () => {
  it.each([
    [at(5), '<time during "create">'],
    [at(40), '<time during "edit">'],
    [at(0), '<time before the first step>'],
    [`restarted at ${at(41)} manually`, 'restarted at <time during "edit"> manually'],
    [`job-${startMs + 50_000}`, 'job-<time during "edit">'],
    [`job-${startMs / 1_000 + 50}`, 'job-<time during "edit">'],
  ])('%s become %s', (text, expected) => {
    expect(describeTimes(text, scale)).toBe(expected)
  })

  it('are alike when they are those of the creation of their object', () => {
    expect(describeTimes(at(6), scale, startMs + 5_000)).toBe('<time of its creation>')
    expect(describeTimes(at(60), scale, startMs + 5_000)).toBe('<time during "edit">')
  })

  it('are equal where they are times of the last check, and in runs without steps', () => {
    expect(describeTimes(at(60), scale, undefined, 'lastTransitionTime')).toBe('<time>')
    expect(describeTimes(at(60), { ...scale, steps: [] })).toBe('<time>')
  })

  it('are found in numbers, too', () => {
    expect(describeNumber(startMs + 5_000, scale)).toBe('<time during "create">')
    expect(describeNumber(8_080, scale)).toBe(8_080)
    expect(describeNumber(1_500_000_000, scale)).toBe(1_500_000_000)
  })
})

describe('other times', () => {
  it.each(['2029-01-01T00:00:00Z', '2099-12-31T23:59:59Z', 'port 8080', '1500000000'])(
    '%s stay as they are',
    (text) => {
      expect(describeTimes(text, scale)).toBe(text)
    },
  )

  it('to come are compared by their offset from the start', () => {
    const inAMonth = describeTimes(at(30 * 86_400), scale)
    expect(inAMonth).toBe('<time +2592000 s>')
    expect(areAlikeTimes(inAMonth, describeTimes(at(30 * 86_400 + 600), scale))).toBe(true)
    expect(areAlikeTimes(inAMonth, describeTimes(at(60 * 86_400), scale))).toBe(false)
  })
})
