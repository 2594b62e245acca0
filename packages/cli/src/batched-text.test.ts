import { setImmediate as nextIteration } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { BatchedText } from './batched-text.ts'

function recorded() {
  const written: string[] = []
  return { written, text: new BatchedText((text) => written.push(text)) }
}

it('writes the lines of one iteration of the event loop together and in order', async () => {
  const { written, text } = recorded()
  text.write('a\n')
  await Promise.resolve()
  text.write('b\n')
  expect(written).toEqual([])
  await nextIteration()
  expect(written).toEqual(['a\nb\n'])
  text.write('c\n')
  await nextIteration()
  expect(written).toEqual(['a\nb\n', 'c\n'])
})

it('writes immediately when asked to, and nothing twice', async () => {
  const { written, text } = recorded()
  text.write('last words\n')
  text.flush()
  expect(written).toEqual(['last words\n'])
  await nextIteration()
  expect(written).toEqual(['last words\n'])
})

it('does not keep back more than 64 KiB', () => {
  const { written, text } = recorded()
  for (let line = 0; line < 1_000; line++) text.write(`${'x'.repeat(255)}\n`)
  expect(written.length).toBe(3)
})
