import { Readable } from 'node:stream'
import type { Transport, TransportRequest } from '@reeve/kube'
import { expect, test } from 'vitest'
import { SimulatedClock } from '../testing/simulated-clock.ts'
import { fenceTransport } from './fence.ts'
import { LeadershipTerm } from './leadership.ts'
import { timeSource } from './time-source.ts'

function fenced() {
  const clock = new SimulatedClock()
  const term = new LeadershipTerm(10_000, clock)
  const sent: string[] = []
  const transport: Transport = {
    send: async ({ method, path }) => {
      sent.push(`${method} ${path}`)
      return { status: 200, headers: {}, body: Readable.from([]) }
    },
    close: async () => undefined,
  }
  const fence = fenceTransport(transport, term)
  const send = (method: TransportRequest['method'], path: string) => fence.send({ method, path, headers: {} })
  const lead = () => term.renew(timeSource(clock).now(), () => new Error('expired'))
  return { clock, sent, send, lead }
}

test('writes pass while leading and are rejected from the deadline on, without a timer having to fire', async () => {
  const { clock, sent, send, lead } = fenced()
  lead()
  await clock.advance(9_999)
  await send('POST', '/api/v1/pods')
  await clock.advance(1)
  await expect(send('PATCH', '/api/v1/pods/x?fieldManager=me')).rejects.toThrow('refused to PATCH /api/v1/pods/x:')
  expect(sent).toEqual(['POST /api/v1/pods'])
})

test('reads and dry runs always pass', async () => {
  const { sent, send } = fenced()
  await send('GET', '/api/v1/pods')
  await send('POST', '/api/v1/pods?dryRun=All')
  expect(sent).toHaveLength(2)
  await expect(send('DELETE', '/api/v1/pods/x')).rejects.toMatchObject({ code: 'NOT_LEADER' })
})
