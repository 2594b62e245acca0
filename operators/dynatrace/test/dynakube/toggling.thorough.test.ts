/** Switching features and modes leaves exactly what a fresh installation has, whatever existed before. */
import { ConfigMaps } from '@reeve/kube'
import { differences, formatDifference } from '@reeve/simulation'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ClosedStage, NAMESPACE, type Plain, setClosedStage } from './support/closed-stage.ts'
import { lookAt, objectsOf } from './support/cluster-objects.ts'
import { type Choice, coveringChanges, EVERY_MEETING, meetingsIn, specOf } from './support/covering-changes.ts'
import { USER_SECRETS } from './support/features.ts'

/** After this a reconcile calls the tenant again. */
const THRESHOLD_MS = 15 * 60_000

const changes = await coveringChanges()

let stage: ClosedStage
beforeAll(async () => {
  stage = await setClosedStage()
  stage.tenant.connectionInfo.setZone('north', ['https://north.example.com/communication'])
  // The cluster stays unknown: an entity that was found once stays in the status for good.
  stage.simulator.faults.add({ kind: 'status', status: 500, operation: 'settings-create' })
  for (const [name, data] of Object.entries(USER_SECRETS)) await stage.addSecret(name, data)
  await stage.client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name: 'authorities' },
    data: { certs: 'certificates' },
  })
  await stage.settle()
})
afterAll(() => stage?.[Symbol.asyncDispose]())

type Objects = ReadonlyMap<string, Plain>
let untouched: Objects
beforeEach(() => {
  untouched = objectsOf(stage)
})
afterEach(() => removed())

async function installed(choice: Choice): Promise<Objects> {
  await removed()
  await stage.create(specOf(choice))
  await stage.settle()
  return lookAt(stage)
}

async function changedTo(choice: Choice, { features }: Choice): Promise<Objects> {
  await stage.replace(specOf(choice))
  await stage.settle()
  // Endpoints are those of the zone that was set last.
  if (choice.features.has('a network zone') !== features.has('a network zone')) {
    await stage.advance(THRESHOLD_MS)
    await stage.touch()
    await stage.settle()
  }
  return lookAt(stage)
}

/** Nothing of a DynaKube stays. */
async function removed(): Promise<void> {
  await stage.deleteIfThere()
  await stage.settle()
  expectSame(objectsOf(stage), untouched)
}

function expectSame(actual: Objects, expected: Objects): void {
  expect(differences(expected, actual).map(formatDifference)).toEqual([])
}

const title = ({ mode, features }: Choice) => [mode, ...features].join(', ')

describe('a DynaKube that was changed has what a fresh one has, and leaves nothing behind', () => {
  it.each(changes.map(({ from, to }) => ({ from, to, title: `${title(from)} ⇄ ${title(to)}` })))(
    '$title',
    { timeout: 120_000 },
    async ({ from, to }) => {
      const fresh = await installed(from)
      const changed = await changedTo(to, from)
      expectSame(await changedTo(from, to), fresh)
      expectSame(changed, await installed(to))
    },
  )
})

it('the sequence of toggles covers every pair of features that admission allows', () => {
  const met = new Set(changes.flatMap(meetingsIn))
  expect(EVERY_MEETING.filter((meeting) => !met.has(meeting))).toEqual([
    // KSPM needs it.
    'kubernetes-monitoring with kspm',
    'kspm without kubernetes-monitoring',
  ])
})
