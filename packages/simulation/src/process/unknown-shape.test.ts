import { expect, it } from 'vitest'
import { unknownShape } from './unknown-shape.ts'

const shapes = ['create services default shop', 'create deployments.apps default shop', 'watch services']

it('the error for an unknown shape names the shapes that are most like the one that no point has', async () => {
  const points = async () => shapes.map((coarse) => ({ label: '', shape: { coarse, fine: '' } }))
  expect(await unknownShape({ points }, 'create services default/shop', ['crash-after-write'])).toBe(
    `--only: no point of crash-after-write has the shape "create services default/shop"; the nearest are
  --only 'create services default shop'
  --only 'create deployments.apps default shop'
  --only 'watch services'`,
  )
})

it('the error for an unknown shape says that there is none', async () => {
  expect(await unknownShape({ points: async () => [] }, 'x', ['T17'])).toContain('there are no points at all')
})
