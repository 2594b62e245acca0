import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SERVER = fileURLToPath(new URL('./support/large-review-server.ts', import.meta.url))
const CLIENTS = 8
const REVIEWS_EACH = 25

/** Several TLS records, as an API server sends a long list for conversion. */
const review = Buffer.from(
  JSON.stringify({
    objects: Array.from({ length: 1_330 }, (_, index) => ({ name: `object-${index}`, spec: { index } })),
  }),
)

// The server is a process of its own: on one event loop, no request arrives while a response is being written.
it('a webhook server keeps the connections of clients that send one large review after the other', async () => {
  const server = fork(SERVER)
  try {
    const [{ port, ca }] = (await once(server, 'message')) as [{ readonly port: number; readonly ca: string }]
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS, ca })
    const failures: unknown[] = []
    let responses = 0
    const headers = { 'content-type': 'application/json', 'content-length': review.length }
    const send = async () => {
      const sent = request({ agent, port, host: '127.0.0.1', path: '/convert', method: 'POST', headers })
      sent.end(review)
      const [response] = await once(sent, 'response')
      if ((await buffer(response)).length > review.length) responses += 1
    }
    const client = async () => {
      for (let count = 0; count < REVIEWS_EACH; count += 1) await send().catch((error) => failures.push(error))
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    agent.destroy()
    expect(failures).toEqual([])
    expect(responses).toBe(CLIENTS * REVIEWS_EACH)
  } finally {
    server.kill('SIGKILL')
  }
})
