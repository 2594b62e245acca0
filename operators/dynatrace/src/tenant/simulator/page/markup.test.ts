import fc from 'fast-check'
import { expect, test } from 'vitest'
import { markup } from './markup.ts'

test('what is put into markup stays text, in elements and in attributes', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", 'a', '/') }), (text) => {
      expect(markup`${text}`.html).not.toMatch(/[<>"']/)
    }),
  )
})

test('markup inside markup stays markup', () => {
  const cells = ['a', '<b>'].map((text) => markup`<td>${text}</td>`)
  expect(markup`<tr>${cells}${markup`<td/>`}${undefined}${5}</tr>`.html).toBe(
    '<tr><td>a</td><td>&#60;b&#62;</td><td/>5</tr>',
  )
})
