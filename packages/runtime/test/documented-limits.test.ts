/** The numbers of docs/limits.md are those of the code. */
import { readFile } from 'node:fs/promises'
import { SimulatedClock } from '@reeve/http/testing'
import { CACHE_DEFAULTS } from '@reeve/runtime/cache'
import { CONTROLLER_DEFAULTS, exponentialBackoff } from '@reeve/runtime/controller'
import { ELECTION_DEFAULTS } from '@reeve/runtime/election'
import { TokenBucket, WorkQueue } from '@reeve/runtime/queue'
import { beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_CONNECTIONS } from '../../http/src/defaults.ts'
import {
  DEFAULT_MAX_RESPONSE_BYTES,
  DEFAULT_MAX_RETRIES,
  DEFAULT_MAX_WATCH_LINE_BYTES,
  DEFAULT_RETRY_BASE_DELAY_MS,
  DEFAULT_RETRY_MAX_DELAY_MS,
  DEFAULT_TIMEOUT_MS,
} from '../../kube/src/defaults.ts'
import { GRACE_MS, RESYNC_JITTER } from '../src/controller/controller-options.ts'
import { MAX_ROUNDS } from '../src/controller/flapping.ts'
import { FAILURES_TO_ESCALATE } from '../src/controller/reconcile-ending.ts'
import { EVENT_DEFAULTS, WEBHOOK_DEFAULTS } from '../src/defaults.ts'
import { DEFAULT_BACKOFF } from '../src/queue/backoff.ts'
import { HEAD_START_MS, QUEUE_DEFAULTS } from '../src/queue/work-item.ts'

const seconds = (ms: number) => `${ms / 1_000} s`
const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`
const percent = (share: number) => `${share * 100} %`

/** The second column, by the first. */
const EXPECTED: Readonly<Record<string, string>> = {
  high: seconds(HEAD_START_MS.high),
  normal: seconds(HEAD_START_MS.normal),
  low: seconds(HEAD_START_MS.low),
  'reconciles at a time': `${CONTROLLER_DEFAULTS.concurrency}, with the command line 10`,
  'time of one reconcile, then its signal aborts': seconds(CONTROLLER_DEFAULTS.timeoutMs),
  'grace after that, then it is abandoned and its client refuses requests': seconds(GRACE_MS),
  'back-off of one key: first delay, longest delay, jitter': `${seconds(DEFAULT_BACKOFF.baseMs)}, ${seconds(DEFAULT_BACKOFF.maxMs)}, ${percent(DEFAULT_BACKOFF.jitter)}`,
  'resync of everything': `every ${seconds(CONTROLLER_DEFAULTS.resyncMs)} ± ${percent(RESYNC_JITTER)}`,
  'keys in the queue': String(QUEUE_DEFAULTS.maxKeys),
  'reasons remembered for a key': String(QUEUE_DEFAULTS.maxReasons),
  'informers of an operator': String(CACHE_DEFAULTS.maxInformers),
  'failures in a row before a failure is logged as an error': String(FAILURES_TO_ESCALATE),
  'reconciles in a row that only own writes cause, before a key flaps': String(MAX_ROUNDS),
  'connections for requests; watches have their own': String(DEFAULT_CONNECTIONS),
  'deadline of a call, retries included': seconds(DEFAULT_TIMEOUT_MS),
  'retries of a call': `${DEFAULT_MAX_RETRIES}, after ${DEFAULT_RETRY_BASE_DELAY_MS} ms doubling to ${DEFAULT_RETRY_MAX_DELAY_MS} ms`,
  'size of a response, of a watch event': `${mebibytes(DEFAULT_MAX_RESPONSE_BYTES)}, ${mebibytes(DEFAULT_MAX_WATCH_LINE_BYTES)}`,
  'informers: delays after failures, up to twice as long by jitter': `${CACHE_DEFAULTS.backoffBaseMs} ms doubling to ${seconds(CACHE_DEFAULTS.backoffMaxMs)}`,
  'informers: silence after which a watch is opened again': seconds(CACHE_DEFAULTS.silenceMs),
  'informers: objects of a page': String(CACHE_DEFAULTS.pageSize),
  'informers: kinds that are not served are asked for': `every ${seconds(CACHE_DEFAULTS.missingRetryMs)}`,
  'leases: duration, renewal deadline, period': [
    ELECTION_DEFAULTS.leaseDurationMs,
    ELECTION_DEFAULTS.renewDeadlineMs,
    ELECTION_DEFAULTS.retryPeriodMs,
  ]
    .map(seconds)
    .join(', '),
  'events about one object': `${EVENT_DEFAULTS.burst} at once, then one in ${seconds(EVENT_DEFAULTS.refillIntervalMs)}`,
  'events with different texts about one object that are combined': `more than ${EVENT_DEFAULTS.aggregateAfter} in ${seconds(EVENT_DEFAULTS.aggregateWindowMs)}`,
  'events that wait to be sent': String(EVENT_DEFAULTS.queueCapacity),
  'webhooks: reviews at a time, time of one': `${WEBHOOK_DEFAULTS.maxConcurrent}, ${seconds(WEBHOOK_DEFAULTS.handlerTimeoutMs)}`,
}

/** Those that are measured below, because no constant has them. */
const MEASURED: Readonly<Record<string, string>> = {
  'retries of all keys together': '10 per second, bursts of 100',
}

let rows: Readonly<Record<string, string>>
beforeAll(async () => {
  const text = await readFile(new URL('../../../docs/limits.md', import.meta.url), 'utf8')
  const cells = text.split('\n').flatMap((line) => (/^\| .* \|$/.test(line) ? [line.slice(2, -2).split(' | ')] : []))
  const isHead = (name: string) => ['priority', 'limit', '---'].includes(name)
  rows = Object.fromEntries(
    cells.map(([name = '', value = '']) => [name, value] as const).filter(([name]) => !isHead(name)),
  )
})

test('every number of the page is that of the code', () => {
  expect(rows).toEqual({ ...EXPECTED, ...MEASURED })
})

describe('numbers without a constant', () => {
  test('100 retries at once, then one each 100 ms', () => {
    const bucket = new TokenBucket(0)
    const delays = Array.from({ length: 102 }, () => bucket.reserve(0))
    expect(delays.slice(98)).toEqual([0, 0, 100, 200])
  })

  test('the back-off of a key is as listed', () => {
    const delays = Array.from({ length: 11 }, (_, at) => exponentialBackoff(at + 1, { random: () => 0 }) / 1_000)
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  })

  test('a waiting key of low priority goes before a new one of high priority after a minute, not before', async () => {
    for (const [waitedMs, first] of [
      [59_000, 'new'],
      [61_000, 'old'],
    ] as const) {
      const clock = new SimulatedClock()
      const queue = new WorkQueue<string>({ name: 'q', clock })
      queue.add('old', { priority: 'low' })
      await clock.advance(waitedMs)
      queue.add('new', { priority: 'high' })
      expect((await queue.take())?.key).toBe(first)
      queue.stop()
    }
  })
})
