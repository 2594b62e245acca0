/** Validates cron schedules, with the messages of the API server's parser. */

interface FieldRange {
  readonly min: number
  readonly max: number
  readonly names?: Readonly<Record<string, number>>
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const days = 'sun mon tue wed thu fri sat'.split(' ')

const fieldRanges: readonly FieldRange[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: Object.fromEntries(months.map((name, index) => [name, index + 1])) },
  { min: 0, max: 6, names: Object.fromEntries(days.map((name, index) => [name, index])) },
]
const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
const duration = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/

/** The error of `schedule`; `undefined` when it is valid. */
export function cronProblem(schedule: string): string | undefined {
  const withoutZone = schedule.replace(/^(?:TZ|CRON_TZ)=\S+\s+/, '')
  if (withoutZone.startsWith('@')) return descriptorProblem(withoutZone)
  const fields = withoutZone.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [index, field] of fields.entries()) {
    const range = fieldRanges[index]
    for (const part of field.split(',')) {
      const problem = range === undefined || part === '' ? undefined : partProblem(part, range)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

function descriptorProblem(text: string): string | undefined {
  if (descriptors.includes(text)) return undefined
  const every = /^@every (.*)$/.exec(text)?.[1]
  if (every === undefined) return `unrecognized descriptor: ${text}`
  if (duration.test(every) || every === '0') return undefined
  return `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(every)}`
}

/** Thrown so that parsing a number can end the whole validation. */
class CronProblem extends Error {}

function partProblem(part: string, range: FieldRange): string | undefined {
  try {
    checkPart(part, range)
    return undefined
  } catch (error) {
    if (error instanceof CronProblem) return error.message
    throw error
  }
}

function checkPart(part: string, range: FieldRange): void {
  const [bounds = '', step, ...moreSteps] = part.split('/')
  const [low = '', high, ...moreBounds] = bounds.split('-')
  const isStar = low === '*' || low === '?'
  const start = isStar ? range.min : number(low, range)
  let end = isStar ? range.max : start
  if (!isStar && moreBounds.length > 0) throw new CronProblem(`too many hyphens: ${part}`)
  if (!isStar && high !== undefined) end = number(high, range)
  if (moreSteps.length > 0) throw new CronProblem(`too many slashes: ${part}`)
  const size = step === undefined ? 1 : number(step, { min: 0, max: 0 })
  if (step !== undefined && high === undefined && !isStar) end = range.max
  if (start < range.min) throw new CronProblem(`beginning of range (${start}) below minimum (${range.min}): ${part}`)
  if (end > range.max) throw new CronProblem(`end of range (${end}) above maximum (${range.max}): ${part}`)
  if (start > end) throw new CronProblem(`beginning of range (${start}) beyond end of range (${end}): ${part}`)
  if (size === 0) throw new CronProblem(`step of range should be a positive number: ${part}`)
}

function number(text: string, { names }: FieldRange): number {
  const named = names?.[text.toLowerCase()]
  if (named !== undefined) return named
  if (!/^[-+]?\d+$/.test(text)) {
    throw new CronProblem(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  const value = Number(text)
  if (value < 0) throw new CronProblem(`negative number (${value}) not allowed: ${text}`)
  return value
}
