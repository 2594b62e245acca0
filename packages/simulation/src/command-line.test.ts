import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readArguments } from './command-line.ts'

describe('the command line of explore', () => {
  it('has one budget, which is a duration, and one number of points', () => {
    const options = { maxSeconds: 120, maxPoints: 5 }
    expect(readArguments(['--budget', '2m', '--points', '5'])).toMatchObject({ options })
    expect(readArguments(['--budget', '2m', '--points', '5', '--scenario', 'a.yaml'])).toMatchObject({ options })
  })

  it('is quick in a minute, ends by itself with a process, and tries everything otherwise', () => {
    expect(readArguments(['--quick'])).toMatchObject({ options: { maxSeconds: 60 } })
    expect(readArguments(['--scenario', 'a.yaml'])).toMatchObject({ options: { maxSeconds: 600 } })
    expect(readArguments([])).not.toHaveProperty('options.maxSeconds')
  })

  it('names patterns by word or by number', () => {
    expect(readArguments(['--pattern', 'T1,relist'])).toMatchObject({
      options: { patterns: ['crash-after-write', 'relist'] },
    })
  })

  it('names what is explored: operators of modules, or one in a process', () => {
    expect(readArguments(['--operator', 'webapp', '--module', 'a.ts'])).toMatchObject({
      subject: { type: 'modules', operators: ['webapp'], modules: ['a.ts'] },
    })
    expect(readArguments(['--scenario', 'a.yaml', '--command', 'x', '--only', 'create a'])).toMatchObject({
      subject: { type: 'scenario', path: 'a.yaml', command: 'x' },
      options: { only: 'create a' },
    })
    expect(readArguments(['init', '--crd', 'a', '--sample', 'b'])).toMatchObject({ type: 'init', crd: 'a' })
  })

  it('writes a page only when it is asked for, where it is asked for', () => {
    expect(readArguments([])).toMatchObject({ reportFile: undefined })
    expect(readArguments(['--report', 'html'])).toMatchObject({ reportFile: 'exploration.html' })
    expect(readArguments(['--report-file', 'a.html'])).toMatchObject({ reportFile: 'a.html' })
  })

  it('replays one point in one thread: each thread repeats the undisturbed runs', () => {
    expect(readArguments(['--point', '7'])).toMatchObject({ parallel: { min: 1, max: 1 } })
    expect(readArguments(['--point', '7', '--parallel', '3'])).toMatchObject({ parallel: { min: 3, max: 3 } })
    expect(readArguments([])).toMatchObject({ parallel: { max: availableParallelism() } })
  })

  it('explains itself whatever else is given', () => {
    expect(readArguments(['--help', '--point', 'x'])).toEqual({ type: 'help' })
    expect(readArguments(['--version'])).toEqual({ type: 'version' })
  })

  it.each([
    [['explode'], 'unexpected argument "explode"'],
    [['--budget', '5'], '--budget is a duration such as 90s or 10m, not "5"'],
    [['--points', 'x'], '--points is a whole number, not "x"'],
    [['--pattern', 'T99'], 'unknown pattern "T99"; use one of'],
    [['--parallel', '0'], '--parallel is a number from 1 to 99'],
    [['--report', 'pdf'], '--report is html, not "pdf"'],
    [['--command', 'x'], '--command is for an operator in a process: use --scenario'],
    [['--crd', 'x'], '--crd is for reeve explore init'],
    [['--scenario', 'a', '--point', '7'], '--point does not go with --scenario'],
    [['--scenario', 'a', '--operator', 'b'], '--operator does not go with --scenario'],
    [['init', '--crd', 'a'], 'reeve explore init needs --crd and --sample'],
  ])('rejects %j', (args, message) => {
    expect(() => readArguments(args)).toThrow(message)
  })
})
