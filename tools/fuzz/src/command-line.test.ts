import { describe, expect, it } from 'vitest'
import { readArguments } from './command-line.ts'
import { progressText } from './progress-line.ts'

describe('the command line of fuzz', () => {
  it('accepts targets and a duration', () => {
    expect(readArguments(['cel', 'protobuf', '--minutes', '0.5', '--seed', '7'])).toMatchObject({
      targets: ['cel', 'protobuf'],
      maxMs: 30_000,
      seed: 7,
    })
  })

  it('rejects invalid numbers', () => {
    expect(() => readArguments(['--minutes', 'ten'])).toThrow('--minutes must be a number above 0, not "ten"')
  })

  it('requires a target for a saved input', () => {
    expect(() => readArguments(['--input', 'file'])).toThrow('--input needs exactly one target')
  })
})

describe('the progress of a search', () => {
  it('is one line', () => {
    const progress = { runs: 4_000, corpusSize: 87, slowest: { cpuMs: 1.234, sizeBytes: 2_048 } }
    expect(progressText('cel', progress, 1, 2_000)).toBe(
      'cel: 4000 runs, 2000/s, corpus 87, slowest 1.23 ms for 2.0 KiB, 1 finding, 2 s',
    )
  })
})
