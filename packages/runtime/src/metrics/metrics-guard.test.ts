import { SimulatedClock } from '@reeve/http/testing'
import type { KubeClient, KubeObject, Resource } from '@reeve/kube'
import { expect, test } from 'vitest'
import { MetricsGuard } from './metrics-guard.ts'

function setUp(answers: { authenticated?: boolean; allowed?: boolean; failure?: Error }) {
  const clock = new SimulatedClock()
  const reviews: string[] = []
  const create = async (resource: Resource, object: KubeObject) => {
    reviews.push(resource.kind)
    if (answers.failure !== undefined) throw answers.failure
    const { authenticated = true, allowed = true } = answers
    const status = resource.kind === 'TokenReview' ? { authenticated, user: { username: 'a' } } : { allowed }
    return { ...object, status }
  }
  // Only `create` is used.
  const guard = new MetricsGuard({ client: { create } as unknown as KubeClient, clock })
  return { guard, clock, reviews, ask: (token = 't') => guard.authorize(`Bearer ${token}`, '/metrics') }
}

test('a scraper that comes every few seconds is checked once a minute', async () => {
  const { ask, clock, reviews } = setUp({})
  for (let second = 0; second < 60; second += 5) {
    expect(await ask()).toBe(200)
    await clock.advance(5_000)
  }
  expect(reviews).toEqual(['TokenReview', 'SubjectAccessReview'])
  await ask()
  expect(reviews).toHaveLength(4)
})

test('each token has its own decision', async () => {
  const { ask, reviews } = setUp({ allowed: false })
  expect([await ask('a'), await ask('b')]).toEqual([403, 403])
  expect(reviews).toHaveLength(4)
})

test('an account that was refused is checked again soon', async () => {
  const answers = { allowed: false }
  const { ask, clock } = setUp(answers)
  expect(await ask()).toBe(403)
  answers.allowed = true
  await clock.advance(10_000)
  expect(await ask()).toBe(200)
})

test('a review that fails opens nothing and is not remembered', async () => {
  const answers: { failure?: Error } = { failure: new Error('forbidden') }
  const { ask } = setUp(answers)
  expect(await ask()).toBe(503)
  delete answers.failure
  expect(await ask()).toBe(200)
})

test.each([undefined, '', 'Bearer', 'Basic YTpi', 'Bearer a b', `Bearer ${'a'.repeat(20_000)}`])(
  'the header %.20s is refused without a request',
  async (header) => {
    const { guard, reviews } = setUp({})
    expect(await guard.authorize(header, '/metrics')).toBe(401)
    expect(reviews).toEqual([])
  },
)
