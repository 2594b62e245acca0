import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Heap } from './heap.ts'

test('a heap returns values in order, whatever was pushed and removed before', () => {
  const step = fc.record({ value: fc.integer({ min: 0, max: 50 }), remove: fc.option(fc.nat(100), { nil: undefined }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const heap = new Heap<number>((a, b) => a < b)
      const inside: ReturnType<typeof heap.push>[] = []
      for (const { value, remove } of steps) {
        inside.push(heap.push(value))
        if (remove !== undefined) {
          const [entry] = inside.splice(remove % inside.length, 1)
          if (entry !== undefined) heap.remove(entry)
        }
      }
      const expected = inside.map((entry) => entry.value).sort((a, b) => a - b)
      expect(heap.size).toBe(expected.length)
      const popped: number[] = []
      for (let value = heap.pop(); value !== undefined; value = heap.pop()) popped.push(value)
      expect(popped).toEqual(expected)
    }),
  )
})

test('a heap ignores the removal of an entry that already left', () => {
  const heap = new Heap<string>((a, b) => a < b)
  const first = heap.push('a')
  heap.push('b')
  expect(heap.pop()).toBe('a')
  heap.remove(first)
  expect([...heap.values()]).toEqual(['b'])
})

test('a heap forgets everything when cleared', () => {
  const heap = new Heap<string>((a, b) => a < b)
  const entry = heap.push('a')
  heap.clear()
  heap.remove(entry)
  expect(heap.peek()).toBeUndefined()
  expect(heap.pop()).toBeUndefined()
})
