/** A few points of every pattern of faults; `npm run explore` tries all of them. */
import { deepStrictEqual } from 'node:assert'
import { test } from 'node:test'
import { explore } from '@reeve/simulation'
import { exploration } from '../exploration/sprocket.ts'

test('the operator converges in spite of crashes, old views and lost events', async () => {
  const { operator, scenario } = exploration
  const { divergences } = await explore(operator, scenario, { maxPoints: 1 })
  deepStrictEqual(divergences, [])
})
