/** Scenarios that lead to errors themselves, without any injected fault. */
import { expect, it } from 'vitest'
import { Explorer, explore, type Scenario } from '../src/index.ts'
import { type Box, Boxes, boxOperator, correctReconcile } from './support/boxes.ts'

const key = { namespace: 'default', name: 'gift' }
const edit = (text: string) => ({ type: 'merge', patch: { spec: { text } } }) as const

const scenario: Scenario = {
  name: 'a Box that becomes invalid and is corrected',
  steps: [
    {
      name: 'create',
      act: ({ put }) => put({ apiVersion: 'example.com/v1', kind: 'Box', metadata: key, spec: { text: 'good' } }),
    },
    {
      name: 'spoil',
      act: ({ client }) => client.patch(Boxes, key, edit('spoilt')),
      expectedErrors: [/cannot be kept/],
      irreplaceable: ['configmaps default/gift'],
    },
    { name: 'mend', act: ({ client }) => client.patch(Boxes, key, edit('mended')) },
  ],
}

/** Cannot carry out one text, and says why. */
function refusing(complaint: (box: Box) => string) {
  return boxOperator('refusing', {
    reconcile(place) {
      const reconcile = correctReconcile(place)
      return async (request) => {
        const { object } = request
        if (object?.spec.text === 'spoilt') throw new Error(complaint(object))
        return reconcile(request)
      }
    },
  })
}

const alike = refusing(() => 'this text cannot be kept')

it('an exploration does not report errors that the scenario itself leads to', { timeout: 120_000 }, async () => {
  const { divergences, runs } = await explore(alike, scenario, { patterns: ['foreign-writes'], maxPoints: 3 })
  expect(divergences).toEqual([])
  expect(runs).toBe(3)
})

it('an exploration reports an error other than those of the scenario', { timeout: 120_000 }, async () => {
  const disturbed = refusing(({ metadata }) => (metadata.labels ? 'who labels this' : 'this text cannot be kept'))
  const { divergences } = await explore(disturbed, scenario, { patterns: ['foreign-writes'], stopAfter: 1 })
  expect(divergences[0]?.message).toContain('who labels this')
})

it('an exploration does not delete objects that the scenario declares irreplaceable', async () => {
  const points = await new Explorer({ operator: alike, scenario }).points('manual-changes')
  const deletions = points.filter(({ label }) => label.endsWith('a user deletes configmaps default/gift'))
  expect(deletions.map(({ label }) => /"(.*)"/.exec(label)?.[1])).toEqual(['create', 'mend'])
})
