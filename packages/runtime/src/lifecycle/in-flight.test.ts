import { expect, test } from 'vitest'
import { InFlight } from './in-flight.ts'

const never = new AbortController().signal

test('work in flight is idle at first, and again after the last has left', async () => {
  const inFlight = new InFlight()
  await inFlight.whenIdle(never)
  const [leaveFirst, leaveSecond] = [inFlight.enter(), inFlight.enter()]
  let isIdle = false
  const idle = inFlight.whenIdle(never).then(() => {
    isIdle = true
  })
  leaveFirst()
  leaveFirst()
  await Promise.resolve()
  expect([inFlight.count, isIdle]).toEqual([1, false])
  leaveSecond()
  await idle
  expect(inFlight.count).toBe(0)
})

test('waiting for work in flight stops on abort', async () => {
  const inFlight = new InFlight()
  inFlight.enter()
  const deadline = new AbortController()
  const waiting = inFlight.whenIdle(deadline.signal)
  deadline.abort(new Error('too long'))
  await expect(waiting).rejects.toThrow('too long')
  await expect(inFlight.whenIdle(deadline.signal)).rejects.toThrow('too long')
})
