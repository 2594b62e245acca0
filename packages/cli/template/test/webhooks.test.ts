/** What admission accepts and rejects. */
import { rejects } from 'node:assert'
import { test } from 'node:test'
import { runInMemory } from '@reeve/testing'
import { operator } from '../src/operator.ts'
import { SprocketResource } from '../src/sprocket.ts'

test('messages have no white space around them', async (t) => {
  const world = await runInMemory(operator)
  t.after(() => world.stop())
  const apply = (message: string) => world.apply(SprocketResource, { metadata: { name: 'first' }, spec: { message } })
  await apply('hello')
  await rejects(apply(' hello'), /spec.message must not begin or end with white space/)
})
