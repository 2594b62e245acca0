import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { readArguments } from './command-line.ts'

test('without a command it does not start thousands of runs, but names the command', () => {
  expect(() => readArguments([])).toThrow('the command is missing: use reeve explore')
  expect(() => readArguments(['--quick'])).toThrow('the command is missing')
  expect(() => readArguments(['explode'])).toThrow('unknown command "explode"; there is only explore')
})

test('help and version need no command', () => {
  expect(readArguments(['--help'])).toBe('help')
  expect(readArguments(['--version'])).toBe('version')
})

test('patterns are named by word or by number', () => {
  expect(readArguments(['explore', '--pattern', 'T1,relist'])).toMatchObject({
    patterns: ['crash-after-write', 'relist'],
  })
})

test('a page is written only when it is asked for, where it is asked for', () => {
  expect(readArguments(['explore'])).toMatchObject({ reportFile: undefined })
  expect(readArguments(['explore', '--report', 'html'])).toMatchObject({ reportFile: 'exploration.html' })
  expect(readArguments(['explore', '--report-file', 'a.html'])).toMatchObject({ reportFile: 'a.html' })
  expect(() => readArguments(['explore', '--report', 'pdf'])).toThrow('--report is html, not "pdf"')
})

test('one point is replayed in one thread: each thread repeats the undisturbed runs', () => {
  expect(readArguments(['explore', '--point', '7'])).toMatchObject({ threads: 1 })
  expect(readArguments(['explore', '--point', '7', '--threads', '3'])).toMatchObject({ threads: 3 })
  expect(readArguments(['explore'])).toMatchObject({ threads: availableParallelism() })
})
