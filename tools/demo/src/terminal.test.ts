import { describe, expect, test } from 'vitest'
import { paint, standardScreen, storyLine } from './terminal.ts'

const screen = (isTTY: boolean, env: Readonly<Record<string, string>> = {}) =>
  standardScreen({ isTTY, write: () => undefined }, env)

describe('colours', () => {
  test.each([
    ['a terminal', true, {}, true],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a terminal with an empty NO_COLOR', true, { NO_COLOR: '' }, true],
    ['a pipe', false, {}, false],
    ['a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
  ])('on %s', (_name, isTTY, env, isColoured) => {
    expect(paint(screen(isTTY, env), 'green', 'ready')).toBe(isColoured ? '\u001b[32mready\u001b[0m' : 'ready')
  })
})

test('a line of the story has columns, and ends where its text ends', () => {
  const line = (detail: string) =>
    storyLine(screen(false), 1.25, 'WebApp shop', { word: 'Ready', colour: 'green' }, detail)
  expect(line('2 of 2 available')).toBe(
    '   1.3 s  WebApp shop                                Ready            2 of 2 available',
  )
  expect(line('')).toMatch(/Ready$/)
})
