/** Operators that are killed after any of their writes are replaced by others that complete the work. */
import { differences, formatDifference } from '@reeve/simulation'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ClosedStage, setClosedStage } from './support/closed-stage.ts'
import { lookAt, objectsOf } from './support/cluster-objects.ts'
import { USER_SECRETS } from './support/features.ts'
import { FULL, HOSTS_ONLY } from './support/full-dynakube.ts'

let stage: ClosedStage
beforeAll(async () => {
  stage = await setClosedStage()
  for (const [name, data] of Object.entries(USER_SECRETS)) await stage.addSecret(name, data)
  await stage.settle()
})
afterAll(() => stage?.[Symbol.asyncDispose]())

type Objects = Awaited<ReturnType<typeof lookAt>>

/**
 * Acts, and kills one operator after the other after its first write, until one finds nothing left to write. Returns
 * how often that was.
 */
async function crashing(act: () => Promise<unknown>): Promise<number> {
  stage.killAfterNextWrite()
  await act()
  for (let crashes = 0; ; crashes++) {
    await stage.settle()
    if (stage.world.running.length > 0) {
      stage.spare()
      return crashes
    }
    stage.killAfterNextWrite()
    stage.start()
  }
}

function expectSame(found: Objects, expected: Objects): void {
  expect(differences(expected, found).map(formatDifference)).toEqual([])
}

async function undisturbed(act: () => Promise<unknown>): Promise<Objects> {
  await act()
  await stage.settle()
  return lookAt(stage)
}

it('an installation is completed by operators that die after each write', { timeout: 120_000 }, async () => {
  const expected = await undisturbed(() => stage.create(FULL))
  await stage.delete()
  await stage.settle()
  // One for each object, and one for the status.
  expect(await crashing(() => stage.create(FULL))).toBeGreaterThan(35)
  expectSame(await lookAt(stage), expected)
})

it('a change is completed by operators that die after each write', { timeout: 120_000 }, async () => {
  const expected = await undisturbed(() => stage.replace(HOSTS_ONLY))
  await undisturbed(() => stage.replace(FULL))
  expect(await crashing(() => stage.replace(HOSTS_ONLY))).toBeGreaterThan(25)
  expectSame(await lookAt(stage), expected)
})

it('a deletion is completed by operators that die after each write', { timeout: 120_000 }, async () => {
  await stage.delete()
  await stage.settle()
  const expected = objectsOf(stage)
  await undisturbed(() => stage.create(FULL))
  // Two namespaces with a label and four Secrets each, less the certificates that there are none of.
  expect(await crashing(() => stage.delete())).toBeGreaterThan(5)
  expectSame(objectsOf(stage), expected)
})

it('a deletion that no operator saw leaves nothing either', async () => {
  const expected = objectsOf(stage)
  await undisturbed(() => stage.create(FULL))
  stage.kill()
  await stage.delete()
  await stage.advance(60_000)
  stage.start()
  await stage.settle()
  expectSame(objectsOf(stage), expected)
})
