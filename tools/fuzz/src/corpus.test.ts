import { describe, expect, it } from 'vitest'
import { Corpus } from './corpus.ts'

/** A view of a few bytes in a large buffer, as mutations leave them. */
const view = (text: string) => Buffer.concat([Buffer.from(text), Buffer.alloc(1_000_000)]).subarray(0, text.length)

describe('the corpus', () => {
  it('keeps the bytes of an input, not the buffer they were cut from', () => {
    const corpus = new Corpus()
    corpus.add(view('a seed'))
    corpus.learn(view('a learned input'), 'allowed')
    corpus.learn(view('shorter'), 'allowed')
    expect(corpus.entries.map(String)).toEqual(['a seed', 'shorter'])
    expect(corpus.entries.map(({ buffer }) => buffer.byteLength)).toEqual([6, 7])
  })

  it('learns an input per outcome', () => {
    const corpus = new Corpus()
    expect(corpus.learn(Buffer.from('first'), 'allowed')).toBe('allowed')
    expect(corpus.learn(Buffer.from('second'), 'allowed')).toBeUndefined()
    expect(corpus.learn(Buffer.from('third'), 'denied')).toBe('denied')
    expect(corpus.size).toBe(2)
  })
})
