import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { classify, parseExceptions, UnknownSpecError } from './specs.ts'

it('the name of a spec is read for what it says', () => {
  const name = '[sig-node] Pods should run alone [Serial] [Conformance]'
  expect(classify([name], new Map())).toEqual([{ name, sig: 'sig-node', isSerial: true }])
})

it('exceptions for specs that do not exist are rejected', () => {
  expect(() => classify(['[sig-apps] a'], new Map([['[sig-apps] b', 'gone']]))).toThrow(UnknownSpecError)
})

it('every exception has a reason, and is listed once', async () => {
  const text = await readFile(new URL('../not-applicable.yaml', import.meta.url), 'utf8')
  const listed = text.match(/^ {4}- /gm)?.length ?? 0
  const exceptions = parseExceptions(text)
  expect(exceptions.size).toBe(listed)
  for (const reason of exceptions.values()) expect(reason.length).toBeGreaterThan(20)
})
