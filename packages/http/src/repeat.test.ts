import { SimulatedClock } from '@reeve/http/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HttpConnectionError } from './http-error.ts'
import { type RepeatOptions, type RetryLoopOptions, repeat, retry } from './repeat.ts'

class Refused extends Error {
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(status: number, retryAfterMs?: number) {
    super(`refused ${status}`)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

function scenario(options: Partial<RepeatOptions> = {}) {
  const clock = new SimulatedClock()
  const startedAt = clock.now()
  const tries: number[] = []
  const run = (...failures: readonly Error[]) => {
    const work = async () => {
      tries.push(clock.now() - startedAt)
      const failure = failures[tries.length - 1]
      if (failure !== undefined) throw failure
      return 'done'
    }
    const refusalOf = (error: unknown) => (error instanceof Refused ? error : undefined)
    const all = { what: 'test call', clock, random: () => 0, timeoutMs: 60_000, isRepeatable: true, refusalOf }
    const result = repeat({ ...all, ...options }, work)
    result.catch(() => undefined) // the test checks it later
    return clock.advance(120_000).then(() => result)
  }
  return { run, tries }
}

describe('repeat', () => {
  it('pauses longer after every failure', async () => {
    const { run, tries } = scenario()
    expect(await run(new Refused(503), new Refused(502))).toBe('done')
    expect(tries).toEqual([0, 125, 375])
  })

  it('fails with the last failure', async () => {
    const { run, tries } = scenario()
    await expect(run(...[1, 2, 3].map(() => new Refused(504)))).rejects.toThrow('refused 504')
    expect(tries).toHaveLength(3)
  })

  it.each([400, 401, 403, 404, 500])('does not repeat after %s', async (status) => {
    const { run, tries } = scenario()
    await expect(run(new Refused(status))).rejects.toThrow()
    expect(tries).toHaveLength(1)
  })

  it('waits as long as a server asks, and not less', async () => {
    const { run, tries } = scenario()
    await run(new Refused(429, 3_000))
    expect(tries).toEqual([0, 3_000])
  })

  it('does not wait for a server that asks to wait longer than the policy allows', async () => {
    const { run, tries } = scenario()
    await expect(run(new Refused(429, 60_000))).rejects.toMatchObject({ retryAfterMs: 60_000 })
    expect(tries).toHaveLength(1)
  })

  it('repeats what is not repeatable only when the server cannot have processed it', async () => {
    for (const failure of [new Refused(429), new HttpConnectionError('refused', 'connect')]) {
      const { run, tries } = scenario({ isRepeatable: false })
      await run(failure)
      expect(tries).toHaveLength(2)
    }
    for (const failure of [new Refused(503), new HttpConnectionError('cut', 'request')]) {
      const { run, tries } = scenario({ isRepeatable: false })
      await expect(run(failure)).rejects.toBe(failure)
      expect(tries).toHaveLength(1)
    }
  })

  it('retries a proxy that failed, but not one that rejected the request', async () => {
    const through = async (status?: number) => {
      const { run, tries } = scenario()
      const proxy = { host: 'proxy:3128', ...(status !== undefined && { status }) }
      await run(new HttpConnectionError('the proxy failed', 'connect', { proxy })).catch(() => undefined)
      return tries.length
    }
    expect([await through(407), await through(403), await through(502), await through()]).toEqual([1, 1, 2, 2])
  })

  it('ends at its deadline, naming the call and the last failure', async () => {
    const clock = new SimulatedClock()
    const pending = repeat(
      {
        what: 'slow call',
        clock,
        random: () => 0,
        timeoutMs: 1_000,
        isRepeatable: true,
        refusalOf: () => undefined,
      },
      () => new Promise(() => undefined),
    )
    const outcome = expect(pending).rejects.toMatchObject({
      code: 'HTTP_DEADLINE_EXCEEDED',
      message: expect.stringContaining('slow call'),
    })
    await clock.advance(1_000)
    await outcome
  })

  it('stops immediately with its reason, when the caller aborts', async () => {
    const reason = new Error('changed my mind')
    const { run } = scenario({ signal: AbortSignal.abort(reason) })
    await expect(run(new Refused(503))).rejects.toBe(reason)
  })
})

describe('retry', () => {
  /** The delays between all tries of a call that always fails. */
  async function delays(options: Partial<RetryLoopOptions>): Promise<readonly number[]> {
    const clock = new SimulatedClock()
    const triedAt: number[] = []
    const failing = retry(
      {
        clock,
        random: () => 0,
        timeoutMs: Number.POSITIVE_INFINITY,
        limits: { maxRetries: 2, baseDelayMs: 250, maxDelayMs: 5_000 },
        requestedDelayMs: () => 0,
        onTimeout: () => new Error('late'),
        ...options,
      },
      async () => {
        triedAt.push(clock.now())
        throw new Error('refused')
      },
    )
    const outcome = expect(failing).rejects.toThrow('refused')
    await clock.runUntilIdle({ maxMs: 1e9 })
    await outcome
    return triedAt.slice(1).map((at, index) => at - (triedAt[index] ?? 0))
  }

  it('gives up after the configured number of tries', async () => {
    expect(await delays({})).toEqual([125, 250])
  })

  it('does not start a delay that ends after the deadline', async () => {
    expect(await delays({ timeoutMs: 300 })).toEqual([125])
  })

  it('never waits less than the server requests, nor longer than the maximum plus a tenth', async () => {
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    await fc.assert(
      fc.asyncProperty(fc.nat(120_000), chance, async (requestedMs, random) => {
        const all = await delays({
          random: () => random,
          requestedDelayMs: () => requestedMs,
          limits: { maxRetries: 20, baseDelayMs: 250, maxDelayMs: 5_000 },
        })
        expect(all).toHaveLength(20)
        for (const delayMs of all) {
          expect(delayMs).toBeGreaterThanOrEqual(requestedMs)
          expect(delayMs).toBeLessThanOrEqual(Math.max(5_000, Math.ceil(requestedMs * 1.1)))
        }
      }),
    )
  })
})
