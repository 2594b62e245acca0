import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { classify, parseExceptions, UnknownSpecError } from './specs.ts'

it('reads what the name of a spec says', () => {
  const name = '[sig-node] Pods should run alone [Serial] [Conformance]'
  expect(classify([name], new Map())).toEqual([{ name, sig: 'sig-node', isSerial: true }])
})

it('rejects exceptions for specs that do not exist', () => {
  expect(() => classify(['[sig-apps] a'], new Map([['[sig-apps] b', 'gone']]))).toThrow(UnknownSpecError)
})

it('has a reason for every exception, and each exception once', async () => {
  const text = await readFile(new URL('../not-applicable.yaml', import.meta.url), 'utf8')
  const listed = text.match(/^ {4}- /gm)?.length ?? 0
  const exceptions = parseExceptions(text)
  expect(exceptions.size).toBe(listed)
  for (const reason of exceptions.values()) expect(reason.length).toBeGreaterThan(20)
})
