import { expect, test } from 'vitest'
import { createLogger, type LoggerOptions } from './create-logger.ts'

async function capture(options: LoggerOptions = {}) {
  const lines: string[] = []
  const logger = await createLogger({ ...options, destination: { write: (line) => lines.push(line) } })
  return { logger, lines, records: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

test('a logger writes one JSON line per message with level, time, fields and message', async () => {
  const { logger, records, lines } = await capture({ fields: { operator: 'webapp' } })
  logger.child({ controller: 'webapp' }).info({ name: 'web' }, 'created deployment')
  expect(lines[0]?.endsWith('\n')).toBe(true)
  expect(records()).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      operator: 'webapp',
      controller: 'webapp',
      name: 'web',
      msg: 'created deployment',
    },
  ])
})

test('a new level applies immediately, also to existing children', async () => {
  const { logger, records } = await capture({ level: 'warn' })
  const child = logger.child({ part: 'queue' })
  child.info({}, 'dropped')
  logger.level = 'debug'
  child.debug({}, 'kept')
  logger.level = 'silent'
  child.error({}, 'dropped too')
  expect(records().map(({ msg }) => msg)).toEqual(['kept'])
})

test('an unknown level is rejected and the error names the known ones', async () => {
  const { logger } = await capture()
  expect(() => Object.assign(logger, { level: 'loud' })).toThrow(/unknown log level "loud": use one of debug, info/)
})

test('secrets never reach a line, whether in fields, bound fields, errors or the message', async () => {
  const { logger, lines } = await capture()
  const bound = logger.child({ headers: { authorization: 'Bearer hunter2hunter2' } })
  bound.error(
    { err: new Error('GET with Bearer hunter2hunter2 failed'), token: 'hunter2hunter2' },
    'Bearer hunter2hunter2',
  )
  expect(lines.join('')).not.toContain('hunter2')
})

test('an error is logged with its name, code, cause and stack', async () => {
  const { logger, records } = await capture()
  const cause = new Error('socket closed')
  logger.error({ err: Object.assign(new RangeError('too far', { cause }), { code: 'E_FAR' }) }, 'failed')
  expect(records()[0]?.err).toMatchObject({
    type: 'RangeError',
    code: 'E_FAR',
    message: 'too far',
    cause: { message: 'socket closed' },
    stack: expect.stringContaining('create-logger.test.ts'),
  })
})

test('an expected error under `err` keeps its class and cause and has no stack', async () => {
  class LeaseLostError extends Error {
    readonly code = 'LEASE_LOST'
    override readonly name = 'LeaseLostError'
  }
  const { logger, records } = await capture()
  logger.warn({ err: new LeaseLostError('lost the lease', { cause: new Error('timed out') }) }, 'stopping')
  const { err } = records()[0] as { err: Record<string, unknown> }
  expect(err).toMatchObject({ type: 'LeaseLostError', code: 'LEASE_LOST', cause: { message: 'timed out' } })
  expect(err).not.toHaveProperty('stack')
  expect(err.message).toBe('lost the lease')
})

test('pretty lines are for people', async () => {
  const { logger, lines } = await capture({ pretty: true })
  logger.info({ namespace: 'shop', note: 'two words', count: 2 }, 'created deployment')
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} INFO {2}created deployment namespace=shop note="two words" count=2\n$/,
  )
  logger.error({ err: new Error('lost') }, 'failed')
  expect(lines[1]).toMatch(/ERROR failed\n {4}Error: lost\n {8}at /)
})
