import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editedJson, editedText } from './edits.ts'

/** All of what a thousand edits make of an input. */
const made = (inputs: typeof editedText, input: string, words: readonly string[] = []) =>
  fc.sample(inputs(fc.constant(Buffer.from(input)), words), { seed: 1, numRuns: 1_000 }).map(String)

describe('edits of a text', () => {
  it('leave most of it as it was', () => {
    const texts = made(editedText, 'app in (web, api)')
    expect(texts.filter((text) => text.includes('app') || text.includes('web')).length).toBeGreaterThan(500)
  })

  it('insert the words of the language', () => {
    expect(made(editedText, 'a b', ['notin']).join()).toContain('a notin')
  })

  it('apply to the empty text', () => {
    expect(new Set(made(editedText, '')).size).toBeGreaterThan(100)
  })
})

describe('edits of JSON', () => {
  it('leave JSON behind', () => {
    for (const text of made(editedJson, '{"a": {"b": [1, "x"]}}')) expect(() => JSON.parse(text)).not.toThrow()
  })

  it('can name a member __proto__, and nest deeper than a stack goes', () => {
    const texts = made(editedJson, '{"a": 1}')
    expect(texts.some((text) => text.includes('{"__proto__":'))).toBe(true)
    expect(texts.some((text) => text.includes('['.repeat(9_000)))).toBe(true)
  })

  it('do not apply to what is not JSON', () => {
    expect(new Set(made(editedJson, '{'))).toEqual(new Set(['{']))
  })
})
