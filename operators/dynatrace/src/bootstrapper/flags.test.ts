import { describe, expect, it } from 'vitest'
import { type Flags, parseFlags } from './flags.ts'

const FLAGS = {
  target: { kind: 'text', help: 'where' },
  attribute: { kind: 'list', help: 'what' },
  fullstack: { kind: 'switch', help: 'whether' },
} as const satisfies Flags

describe('arguments of an init container', () => {
  it.each([
    [['--target=/mnt/bin'], { target: '/mnt/bin' }],
    [['--target', '/mnt/bin'], { target: '/mnt/bin' }],
    [['--target='], { target: '' }],
    [['--target=a=b'], { target: 'a=b' }],
    [['--target=a', '--target=b'], { target: 'b' }],
    [['--attribute=a=1', '--attribute', 'b=2'], { attribute: ['a=1', 'b=2'] }],
    [['--fullstack'], { fullstack: true }],
    [['--fullstack', 'false'], { fullstack: true }],
    [['--fullstack=F'], { fullstack: false }],
    [['--fullstack=1'], { fullstack: true }],
    [['--', '--target=x'], {}],
    [['word', '-x'], {}],
    [['--toString=x', '--constructor', 'y'], {}],
  ])('%j mean %j', (args, expected) => {
    expect(parseFlags(FLAGS, args)).toEqual(expected)
  })

  it('may have flags of other releases, with or without a value', () => {
    const args = ['--new', '--newer=x', '--newest', 'value', '--target=/mnt/bin', '--last']
    expect(parseFlags(FLAGS, args)).toEqual({ target: '/mnt/bin' })
  })

  it.each([
    [['--target'], '--target needs a value'],
    [['--fullstack=maybe'], '--fullstack: "maybe" is not a truth value; use true or false'],
  ])('%j are an error', (args, message) => {
    expect(() => parseFlags(FLAGS, args)).toThrow(message)
  })
})
