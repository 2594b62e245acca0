import { describe, expect, it } from 'vitest'
import { Backstage } from './backstage.ts'

/** Work that ends with the signal, as an operator does. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

describe('Backstage', () => {
  it('ends everything when it is closed, and nothing has failed', async () => {
    const backstage = new Backstage(new AbortController().signal)
    let ended = 0
    for (const _ of [1, 2]) backstage.start((signal) => untilAborted(signal).then(() => void ended++))
    await backstage.close()
    expect(ended).toBe(2)
    expect(backstage.failure).toBeUndefined()
  })

  it('stops everything when one part fails, and reports the first failure', async () => {
    const backstage = new Backstage(new AbortController().signal)
    const first = new Error('the operator broke down')
    backstage.start(async () => {
      throw first
    })
    backstage.start(async (signal) => {
      await untilAborted(signal)
      throw new Error('and I with it')
    })
    await untilAborted(backstage.signal)
    await backstage.close()
    expect(backstage.failure).toBe(first)
  })

  it('reports what fails at the very end', async () => {
    const backstage = new Backstage(new AbortController().signal)
    backstage.start(async (signal) => {
      await untilAborted(signal)
      throw new Error('did not stop in time')
    })
    await backstage.close()
    expect(backstage.failure?.message).toBe('did not stop in time')
  })

  it('takes the end that it gave itself for no failure', async () => {
    const backstage = new Backstage(new AbortController().signal)
    backstage.start(async (signal) => {
      await untilAborted(signal)
      signal.throwIfAborted()
    })
    await backstage.close()
    expect(backstage.failure).toBeUndefined()
  })

  it('takes nothing for a failure that the user stopped', async () => {
    const user = new AbortController()
    const backstage = new Backstage(user.signal)
    backstage.start(async (signal) => {
      await untilAborted(signal)
      throw new Error('cut off')
    })
    user.abort()
    await backstage.close()
    expect(backstage.failure).toBeUndefined()
  })
})
