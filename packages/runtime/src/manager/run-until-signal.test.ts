import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { runUntilSignal } from './run-until-signal.ts'

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

test('a signal stops the run, and a clean stop exits with 0', async () => {
  const source = new EventEmitter()
  const code = runUntilSignal(untilAborted, { source })
  source.emit('SIGTERM', 'SIGTERM')
  expect(await code).toBe(0)
  expect(source.listenerCount('SIGTERM')).toBe(0)
})

test('a failure exits with 1', async () => {
  const run = async () => {
    throw new Error('broken')
  }
  expect(await runUntilSignal(run, { source: new EventEmitter() })).toBe(1)
})

test('a run that ends on its own exits with 0', async () => {
  expect(await runUntilSignal(async () => undefined, { source: new EventEmitter() })).toBe(0)
})

test('a second signal does not wait for a stop that hangs', async () => {
  const source = new EventEmitter()
  const code = runUntilSignal(() => new Promise(() => undefined), { source })
  source.emit('SIGTERM', 'SIGTERM')
  source.emit('SIGINT', 'SIGINT')
  expect(await code).toBe(130)
})
