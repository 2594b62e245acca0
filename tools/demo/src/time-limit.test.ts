import { describe, expect, it } from 'vitest'
import { TimeLimit } from './time-limit.ts'

const never = new AbortController().signal
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

describe('TimeLimit', () => {
  it('returns the result in time', async () => {
    const limit = new TimeLimit(60)
    expect(
      await limit.run(
        never,
        async () => 'done',
        async () => 'late',
      ),
    ).toBe('done')
  })

  it('reports the state at the timeout', async () => {
    const limit = new TimeLimit(0.001)
    const late = limit.run(never, untilAborted, async () => 'WebApp shop is Created')
    await expect(late).rejects.toThrow('not ready within 0.001 s: WebApp shop is Created')
  })

  it('passes on a failure that has nothing to do with time', async () => {
    const failed = new TimeLimit(60).run(
      never,
      async () => {
        throw new Error('refused')
      },
      async () => 'late',
    )
    await expect(failed).rejects.toThrow('refused')
  })

  it('waits forever without a limit, until it is stopped', async () => {
    const user = new AbortController()
    const running = new TimeLimit().run(user.signal, untilAborted, async () => 'late')
    user.abort(new Error('stopped'))
    await expect(running).rejects.toThrow('stopped')
  })
})
