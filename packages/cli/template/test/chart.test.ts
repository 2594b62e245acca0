/** The chart installs what the operator is defined with. */
import { deepStrictEqual } from 'node:assert'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { parse } from 'yaml'
import { generated } from '../dev/generate.ts'

for (const [path, content] of Object.entries(generated())) {
  test(`${path} is up to date: run npm run generate`, async () => {
    const written = parse(await readFile(new URL(`../${path}`, import.meta.url), 'utf8'))
    deepStrictEqual(sorted(written), sorted(JSON.parse(JSON.stringify(content))))
  })
}

/** The order of rules and members has no meaning. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}
