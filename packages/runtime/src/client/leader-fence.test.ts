import { SimulatedClock } from '@reeve/http/testing'
import { expect, test } from 'vitest'
import { LeadershipTerm } from '../election/leadership.ts'
import { timeSource } from '../election/time-source.ts'
import { FakeCluster } from '../testing/fake-cluster.ts'
import { Widgets, widget } from '../testing/fake-objects.ts'
import { fenceWrites } from './leader-fence.ts'

function fenced() {
  const clock = new SimulatedClock()
  const cluster = new FakeCluster({ clock })
  const term = new LeadershipTerm(10_000, clock)
  const client = fenceWrites(cluster.client, term)
  const lead = () => term.renew(timeSource(clock).now(), () => new Error('expired'))
  const sent = () => cluster.requests.map(({ verb, name }) => `${verb} ${name}`)
  return { clock, cluster, client, lead, sent }
}

test('writes pass while leading and are rejected from the deadline on', async () => {
  const { clock, client, lead, sent } = fenced()
  lead()
  await clock.advance(9_999)
  await client.create(Widgets, widget('early'))
  await clock.advance(1)
  await expect(client.create(Widgets, widget('late'))).rejects.toThrow('refused to create Widget ns/late:')
  expect(sent()).toEqual(['create early'])
})

test('a write in progress is aborted when the term ends', async () => {
  const { clock, cluster, client, lead } = fenced()
  lead()
  cluster.before = ({ signal }) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  const write = client.create(Widgets, widget('slow'))
  const outcome = expect(write).rejects.toMatchObject({ code: 'NOT_LEADER' })
  await clock.advance(10_000)
  await outcome
})

test('reads and dry runs always pass', async () => {
  const { client, sent } = fenced()
  await client.list(Widgets)
  await client.create(Widgets, widget('tried'), { dryRun: true })
  expect(sent()).toHaveLength(2)
  await expect(client.delete(Widgets, { namespace: 'ns', name: 'tried' })).rejects.toMatchObject({ code: 'NOT_LEADER' })
})
