/** What the operator does when its view shows Secrets of an EdgeConnect that was deleted and created again. */
import { Explorer } from '@reeve/simulation'
import { expect, it } from 'vitest'
import { exploration } from '../../exploration/edgeconnect.ts'

it('registers once while it cannot see that the Secret of the old EdgeConnect is deleted', {
  timeout: 120_000,
}, async () => {
  const explorer = new Explorer(exploration)
  const points = await explorer.points('unseen-states')
  const index = points.findIndex(({ label }) =>
    /\(DELETED secrets \S+-client\) is lost with all that follows/.test(label),
  )
  const { problems, tookEffect } = await explorer.run('unseen-states', index)
  expect([tookEffect, problems]).toEqual([true, []])
})

it('keeps the new registration when it restarts on a view of the old Secrets', { timeout: 120_000 }, async () => {
  const explorer = new Explorer(exploration)
  const points = await explorer.points('stale-view')
  const index = points.findIndex(({ label }) =>
    /^restarted at event \d+ \(ADDED secrets \S+-client\) on secrets as of event \d+ \(ADDED secrets \S+-client\)/.test(
      label,
    ),
  )
  const { problems, tookEffect } = await explorer.run('stale-view', index)
  expect([tookEffect, problems]).toEqual([true, []])
})
