/** What docs/dynatrace.md says about plans is what plans say. */
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { runCli } from '../../src/cli/testing/run-cli.ts'

const page = () => readFile(new URL('../../../../docs/dynatrace.md', import.meta.url), 'utf8')

it('docs/dynatrace.md shows what plan really prints', async () => {
  const text = await page()
  const [, stdin = ''] = /^```yaml\n(.*?)^```$/ms.exec(text) ?? []
  const [, shown = ''] = /^\$ dynatrace-operator plan -f dynakube\.yaml --offline\n(.*?)^```$/ms.exec(text) ?? []
  const { stdout } = await runCli(['plan', '-f', '-', '--offline'], { stdin })
  expect(stdout).toBe(shown)
})

it('docs/dynatrace.md names every member of the document', async () => {
  const text = await page()
  const [, stdin = ''] = /^```yaml\n(.*?)^```$/ms.exec(text) ?? []
  const { stdout } = await runCli(['plan', '-f', '-', '--offline', '-o', 'json'], { stdin })
  const document: Readonly<Record<string, unknown>> = JSON.parse(stdout)
  const members = Object.entries(document).flatMap(([name, value]) => {
    const [first] = Array.isArray(value) ? value : [value]
    return [name, ...(typeof first === 'object' && first !== null ? Object.keys(first) : [])]
  })
  expect(members.filter((member) => !text.includes(`\`${member}`))).toEqual([])
})
