import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { explainFetch } from './fetch-failure.ts'

/** How the failure of a request is explained. */
async function failureOf(url: string): Promise<string> {
  const error = await fetch(url).then(
    () => new Error('it succeeded'),
    (failure: Error) => failure,
  )
  const { message, stack } = explainFetch(error)
  expect(stack).toBe(error.stack?.replace('fetch failed', message))
  return message
}

it('a failed fetch names its host and its cause, and nothing that may be secret; its stack stays', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await failureOf(`${origin}/path?token=hunter2`)).toBe(`fetch ${origin} failed: other side closed`)
  server.close()
  await once(server, 'close')
  const refused = await failureOf(`${origin}/path?token=hunter2`)
  expect(refused).toMatch(`fetch ${origin} failed: connect ECONNREFUSED`)
  expect(refused).not.toMatch('hunter2')
})

it('other errors stay as they are', () => {
  const errors = [new Error('fetch failed'), new TypeError('no'), new TypeError('fetch failed')]
  expect(errors.map(explainFetch)).toEqual(errors)
})
