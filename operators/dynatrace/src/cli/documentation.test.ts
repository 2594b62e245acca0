import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from './testing/run-cli.ts'

const page = () => readFile(new URL('../../../../docs/dynatrace.md', import.meta.url), 'utf8')
const blocks = (text: string, wanted: string) =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, language, block = '']) =>
    language === wanted ? [block] : [],
  )

describe('docs/dynatrace.md', () => {
  it('shows resources that admission accepts', async () => {
    const examples = blocks(await page(), 'yaml')
    expect(examples.length).toBeGreaterThan(0)
    for (const stdin of examples) {
      const { code, stdout } = await runCli(['validate', '-f', '-'], { stdin })
      expect([code, stdout]).toEqual([0, expect.stringContaining('0 errors, 0 warnings')])
    }
  })

  it('shows what validate really prints', async () => {
    const [shown = ''] = blocks(await page(), '').filter((block) => block.startsWith('$ dynatrace-operator validate'))
    const file = join(await mkdtemp(join(tmpdir(), 'docs-')), 'dynakube.yaml')
    await writeFile(
      file,
      `apiVersion: dynatrace.com/v1beta6
kind: DynaKube
metadata:
  name: dynakube
  namespace: dynatrace
spec:
  apiUrl: https://abc12345.live.dynatrace.com
  oneAgent:
    hostMonitoring:
      autoUpdate: true
      version: latest
`,
    )
    const { stdout } = await runCli(['validate', '-f', file])
    expect(stdout.replaceAll(file, 'dynakube.yaml')).toBe(shown.split('\n').slice(1).join('\n'))
  })
})
