import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { silentLogger } from '../logging/logger.ts'
import { closeServer, Listener } from './listener.ts'

const create = () => createServer((_request, response) => void response.end('ok'))
const HOST = '127.0.0.1'

test('a listener listens until the signal aborts, and leaves no connection', async () => {
  const [server, stop, listener] = [create(), new AbortController(), new Listener(silentLogger, 'serving')]
  const running = listener.run(server, {
    host: HOST,
    port: 0,
    maxConnections: 10,
    signal: stop.signal,
    stop: () => closeServer(server),
  })
  const { port } = await listener.address()
  expect(await (await fetch(`http://${HOST}:${port}`)).text()).toBe('ok')
  stop.abort()
  await running
  expect(server.listening).toBe(false)
  await expect(fetch(`http://${HOST}:${port}`)).rejects.toThrow()
})

test('a listener stops a server whose signal was aborted before it listened', async () => {
  const [server, listener] = [create(), new Listener(silentLogger, 'serving')]
  const signal = AbortSignal.abort()
  await listener.run(server, { host: HOST, port: 0, maxConnections: 10, signal, stop: () => closeServer(server) })
  expect(server.listening).toBe(false)
})

test('a listener says that an address is taken to those who wait for it', async () => {
  const [first, second, stop] = [create(), create(), new AbortController()]
  const { signal } = stop
  const [listener, other] = [new Listener(silentLogger, 'first'), new Listener(silentLogger, 'second')]
  const running = listener.run(first, {
    host: HOST,
    port: 0,
    maxConnections: 10,
    signal,
    stop: () => closeServer(first),
  })
  const { port } = await listener.address()
  const refused = other.run(second, { host: HOST, port, maxConnections: 10, signal, stop: () => closeServer(second) })
  await expect(refused).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await expect(other.address()).rejects.toMatchObject({ code: 'EADDRINUSE' })
  stop.abort()
  await running
})

test('a listener closes the connection that was idle for the longest time, and none that is served', async () => {
  const served: (() => void)[] = []
  const server = createServer((request, response) => {
    if (request.url === '/slow') served.push(() => response.end('late'))
    else response.end('ok')
  })
  const [stop, listener] = [new AbortController(), new Listener(silentLogger, 'serving')]
  const { signal } = stop
  const running = listener.run(server, {
    host: HOST,
    port: 0,
    maxConnections: 3,
    signal,
    stop: () => closeServer(server),
  })
  const { port } = await listener.address()
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
  const open = async (): Promise<Socket> => {
    const socket = connect(port, HOST)
    await Promise.all([once(socket, 'connect'), once(server, 'connection')])
    return socket
  }
  const slow = await open()
  slow.write(get('/slow'))
  await once(server, 'request')
  const unfinished = await open()
  unfinished.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nnot all')
  await once(unfinished, 'data')
  const idle = await open()
  idle.write(get('/'))
  await once(idle, 'data')
  const first = await open()
  await once(unfinished, 'close')
  const second = await open()
  await once(idle, 'close')
  for (const socket of [first, second]) {
    socket.write(get('/'))
    await once(socket, 'data')
  }
  const answered = once(slow, 'data')
  for (const finish of served) finish()
  expect(String((await answered)[0])).toContain('late')
  stop.abort()
  await running
})
