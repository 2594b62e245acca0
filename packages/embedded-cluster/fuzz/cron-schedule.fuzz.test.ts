/** Fuzzes the schedules of CronJobs. */
import { attempt, broken, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { cronProblem } from '../src/builtin/validation/cron-syntax.ts'
import { CronSyntaxError, parseSchedule } from '../src/controllers/cron-schedule.ts'

const field = fc.constantFrom(
  '*',
  '0',
  '59',
  '1-5',
  '*/7',
  '1,2,3',
  '5-1',
  '31',
  'mon',
  'jan-mar',
  '?',
  '0-59/1',
  '100',
)
const zone = fc.constantFrom('', 'TZ=Europe/Vienna ', 'CRON_TZ=Nowhere/City ')
const NOON_MS = Date.UTC(2024, 1, 29, 12)

fuzz('cron-schedule', {
  inputs: fc
    .tuple(zone, fc.array(field, { minLength: 4, maxLength: 6 }))
    .map(([where, fields]) => where + fields.join(' ')),
  seeds: ['@daily', '@every 1h30m', '0,30 8-18 * * mon-fri', '0 0 31 2 *', '0 0 29 2 1'],
  dictionary: ['@every ', '@hourly', '*/', '-', ',', '?', 'L', 'mon', 'feb', 'TZ=', '1h', '1e9h'],
  maxBytes: 4_096,
  run(input) {
    const text = textOf(input)
    cronProblem(text)
    const parsed = attempt(() => parseSchedule(text), CronSyntaxError)
    if (parsed === undefined) return
    const next = parsed.value.next(NOON_MS)
    if (next !== undefined && next <= NOON_MS) throw broken('the next time is later', text, next)
    const latest = parsed.value.latest(NOON_MS - 86_400_000, NOON_MS)
    if (latest !== undefined && latest > NOON_MS) throw broken('the latest time is not in the future', text, latest)
  },
})
