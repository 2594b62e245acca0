import { describe, expect, it } from 'vitest'
import { maxRequests, RequestLimiter } from './request-limiter.ts'
import { VolumeLocks } from './volume-locks.ts'

describe('a limit of calls', () => {
  it('rejects exactly the calls beyond it, and has room again when one has ended', async () => {
    const limiter = new RequestLimiter(20)
    const open = Promise.withResolvers<void>()
    const calls = Array.from({ length: 21 }, () => limiter.run(() => open.promise).catch((error: unknown) => error))
    expect(await calls[20]).toMatchObject({ code: 8 })
    open.resolve()
    expect(await Promise.all(calls.slice(0, 20))).toEqual(Array.from({ length: 20 }))
    expect(await limiter.run(async () => 'again')).toBe('again')
  })

  it('is not used up by calls that fail', async () => {
    const limiter = new RequestLimiter(1)
    await expect(limiter.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await limiter.run(async () => 'again')).toBe('again')
  })

  it.each([
    [undefined, 20],
    ['', 20],
    ['x', 20],
    ['5', 5],
    ['0', 0],
    ['1.5', 20],
    ['4294967296', 20],
  ])('is by the setting %j %i', (setting, expected) => {
    expect(maxRequests(setting)).toBe(expected)
  })
})

describe('locks of volumes', () => {
  it('let calls for one volume run one after another, also after a failure, and others concurrently', async () => {
    const locks = new VolumeLocks()
    const order: string[] = []
    const open = Promise.withResolvers<void>()
    const first = locks.run('a', async () => {
      await open.promise
      order.push('first')
      throw new Error('no')
    })
    const second = locks.run('a', async () => order.push('second'))
    await locks.run('b', async () => order.push('other'))
    open.resolve()
    await expect(first).rejects.toThrow('no')
    await second
    expect(order).toEqual(['other', 'first', 'second'])
  })
})
