import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { silentLogger } from '../logging/logger.ts'
import { closeServer, Listener } from './listener.ts'

const create = () => createServer((_request, response) => void response.end('ok'))
const HOST = '127.0.0.1'

test('listens until the signal aborts, and leaves no connection', async () => {
  const [server, stop, listener] = [create(), new AbortController(), new Listener(silentLogger, 'serving')]
  const running = listener.run(server, { host: HOST, port: 0, signal: stop.signal, stop: () => closeServer(server) })
  const { port } = await listener.address()
  expect(await (await fetch(`http://${HOST}:${port}`)).text()).toBe('ok')
  stop.abort()
  await running
  expect(server.listening).toBe(false)
  await expect(fetch(`http://${HOST}:${port}`)).rejects.toThrow()
})

test('stops a server whose signal was aborted before it listened', async () => {
  const [server, listener] = [create(), new Listener(silentLogger, 'serving')]
  const signal = AbortSignal.abort()
  await listener.run(server, { host: HOST, port: 0, signal, stop: () => closeServer(server) })
  expect(server.listening).toBe(false)
})

test('says that an address is taken to those who wait for it', async () => {
  const [first, second, stop] = [create(), create(), new AbortController()]
  const { signal } = stop
  const [listener, other] = [new Listener(silentLogger, 'first'), new Listener(silentLogger, 'second')]
  const running = listener.run(first, { host: HOST, port: 0, signal, stop: () => closeServer(first) })
  const { port } = await listener.address()
  const refused = other.run(second, { host: HOST, port, signal, stop: () => closeServer(second) })
  await expect(refused).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await expect(other.address()).rejects.toMatchObject({ code: 'EADDRINUSE' })
  stop.abort()
  await running
})
