import { expect, it } from 'vitest'
import { LimitedCertificates } from './limited-certificates.ts'

const clock = { now: () => 0 }
const subject = (commonName: string) => ({ commonName, hosts: [], addresses: [] })
const pair = { certificate: 'certificate', privateKey: 'key' }

/** Creates certificates when the test says so. */
function maker() {
  const begun: string[] = []
  const endings: PromiseWithResolvers<typeof pair>[] = []
  const limited = new LimitedCertificates(({ commonName }) => {
    begun.push(commonName)
    const ending = Promise.withResolvers<typeof pair>()
    endings.push(ending)
    return ending.promise
  })
  const make = (name: string, signal = new AbortController().signal) => limited.make(subject(name), clock, signal)
  return { begun, endings, make }
}

/** Runs everything that is not waiting. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

it('two certificates are generated concurrently, and the next when one is done or fails', async () => {
  const { begun, endings, make } = maker()
  const made = ['a', 'b', 'c', 'd'].map((name) => make(name))
  await settled()
  expect(begun).toEqual(['a', 'b'])
  endings[0]?.resolve(pair)
  endings[1]?.reject(new Error('no entropy'))
  await expect(made[1]).rejects.toThrow('no entropy')
  await settled()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  for (const ending of endings) ending.resolve(pair)
  await expect(Promise.all([made[0], made[2], made[3]])).resolves.toEqual([pair, pair, pair])
})

it('no certificate is made for a reconcile that was aborted while it waited', async () => {
  const { begun, endings, make } = maker()
  const others = ['a', 'b'].map((name) => make(name))
  const cut = new AbortController()
  const waiting = make('c', cut.signal)
  cut.abort(new Error('stop'))
  await expect(waiting).rejects.toThrow('stop')
  for (const ending of endings) ending.resolve(pair)
  await Promise.all(others)
  expect(begun).toEqual(['a', 'b'])
})
