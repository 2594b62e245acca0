import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parseSettings } from './settings.ts'

it('the sample settings are read', async () => {
  const text = await readFile(new URL('../samples/settings.yaml', import.meta.url), 'utf8')
  expect(Object.keys(parseSettings(text).clusters)).toEqual(['development', 'production'])
})

it.each([
  ['clusters: [', /not valid YAML/],
  ['clusters: {a: {type: carrier-pigeon, location: x}}', /clusters\.a\.type/],
  ['chartOverrides: true', /clusters/],
])('settings %j are refused with a message that names the field', (text, message) => {
  expect(() => parseSettings(text)).toThrow(message)
})
