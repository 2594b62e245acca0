/** The provisioner under faults: what is on disk at the end is the same as without them, and right at every moment. */
import { Readable } from 'node:stream'
import { unpackTar, unpackZip } from '@reeve/archives'
import { divergenceText, explore, type OperatorUnderTest, runScenario, type Scenario } from '@reeve/simulation'
import { beforeAll, expect, it } from 'vitest'
import { NodeWorld } from '../../exploration/node/node-world.ts'
import { exploration } from '../../exploration/provisioner.ts'

// The exploration knows outside worlds by their interface only.
const operator = exploration.operator as OperatorUnderTest
const scenario = exploration.scenario as Scenario

/** Spread evenly; `npm run explore -- --operator dynatrace-provisioner` tries them all. */
const PATTERNS = ['crash-after-write', 'crash-around-call', 'stale-view', 'manual-changes'] as const

// What unpacks archives is loaded by the first one, which takes real time here: virtual time would pass without it.
beforeAll(async () => {
  await unpackZip('/nowhere', '/nowhere').catch(() => undefined)
  await unpackTar(noBytes(), 'none', '/nowhere').catch(() => undefined)
})

const noBytes = () => Readable.from([]) as AsyncIterable<Uint8Array>

it('the provisioner survives faults while agents are installed by all methods', { timeout: 240_000 }, async () => {
  const report = await explore(operator, scenario, { patterns: PATTERNS, maxPoints: 1 })
  expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name))).toEqual([])
  expect(report.patterns.map(({ explored, missed }) => explored - missed)).toEqual(PATTERNS.map(() => 1))
})

// Every other run has to agree with this one.
it('the provisioner has the agents on disk that DynaKubes need, and none in the end', {
  timeout: 120_000,
}, async () => {
  const { baseline, problems } = await runScenario(operator, scenario, { seed: 1 })
  expect(problems).toEqual([])
  const onDisk = baseline.snapshots.map((snapshot) =>
    [...snapshot].flatMap(([id]) => /^outside (?:agent|stray|broken:?) (.*)/.exec(id)?.[1] ?? []),
  )
  const [older, middle, newer] = ['1.317.71.20250613-141502', '1.319.68.20250714-093015', '1.321.57.20250812-101530']
  const pulled = encoded(`environment.example.com/dynatrace/dynatrace-codemodules:${newer}`)
  const copied = encoded('registry.example.com/codemodules:1')
  expect(onDisk).toEqual([
    [older],
    // A pod still uses the first one.
    [older, newer],
    // The tenant cannot be reached, and then it can.
    [older, newer],
    [older, middle],
    [newer, pulled],
    // Until there is another one, pods get what there is.
    [newer, pulled],
    [newer, copied],
    [newer, copied],
    [],
  ])
})

it('the exploration notices an agent that is deleted while a pod uses it', { timeout: 120_000 }, async () => {
  class WithoutTable extends NodeWorld {
    override readMounts() {
      return []
    }
  }
  const blind = {
    ...exploration.operator,
    world: (place) => new WithoutTable(place),
  } satisfies typeof exploration.operator
  const { problems } = await runScenario(blind as OperatorUnderTest, scenario, { seed: 1 })
  const expected = 'outside broken: 1.317.71.20250613-141502 was deleted while a pod used it'
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(expected)])
})

function encoded(image: string): string {
  return Buffer.from(image).toString('base64')
}
