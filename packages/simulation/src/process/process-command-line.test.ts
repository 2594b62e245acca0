import { describe, expect, it } from 'vitest'
import { isAboutProcess, readProcessArguments } from './process-command-line.ts'

describe('the command line of an exploration of a process', () => {
  it('is recognised by its options', () => {
    expect(isAboutProcess(['explore', '--scenario', 'a.yaml'])).toBe(true)
    expect(isAboutProcess(['explore', '--command=./manager'])).toBe(true)
    expect(isAboutProcess(['explore', 'init'])).toBe(true)
    expect(isAboutProcess(['explore', '--operator', 'webapp'])).toBe(false)
  })

  it('has a budget, patterns and a command', () => {
    const args = ['explore', '--scenario', 'a.yaml', '--budget', '2m', '--pattern', 'T1,stale-view', '--command', 'x']
    expect(readProcessArguments(args)).toMatchObject({
      type: 'explore',
      path: 'a.yaml',
      maxSeconds: 120,
      patterns: ['crash-after-write', 'stale-view'],
      command: 'x',
    })
  })

  it.each([
    [['explore', '--command', 'x'], '--scenario is missing'],
    [['explore', '--scenario', 'a', '--budget', '5'], '--budget is a duration such as 90s or 10m, not "5"'],
    [['explore', '--scenario', 'a', '--pattern', 'T99'], 'unknown pattern "T99"; use one of'],
    [['explore', '--scenario', 'a', '--parallel', '0'], '--parallel is a number from 1 to 99'],
    [['explore', 'init', '--crd', 'a'], 'reeve explore init needs --crd and --sample'],
  ])('%j is rejected', (args, message) => {
    expect(() => readProcessArguments(args)).toThrow(message)
  })
})
