import { describe, expect, it } from 'vitest'
import { parseHistory, parseList } from './parse-summaries.ts'

const fail = (problem: string) => new Error(`the output of helm ${problem}`)

describe('the tables that helm prints', () => {
  it('have revisions as numbers and as texts', () => {
    const rows = [{ revision: '2' }, { revision: 1, status: 'deployed' }]
    expect(parseHistory(rows, fail).map(({ revision, status }) => [revision, status])).toEqual([
      [1, 'deployed'],
      [2, 'unknown'],
    ])
  })

  it.each([{}, { revision: 0 }, { revision: 'x' }, { revision: [1] }, { revision: { toString: {} } }])(
    'are rejected without a revision: %j',
    (row) => {
      expect(() => parseHistory([row], fail)).toThrow('the output of helm lists a release without a revision')
      expect(() => parseList([{ name: 'a', namespace: 'b', ...row }], fail)).toThrow('without a revision')
    },
  )
})
