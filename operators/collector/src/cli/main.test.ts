import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runCaptured } from '@reeve/cli/testing'
import { describe, expect, it } from 'vitest'
import { main } from './main.ts'

const validate = (stdin: string, ...args: readonly string[]) =>
  runCaptured(main, ['validate', '-f', '-', ...args], { stdin })

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const sample = () => readFile(file('samples/acme.yaml'), 'utf8')

describe('the command line', () => {
  it.each(['run', 'validate', 'crd'])('shows options and examples of %s', async (name) => {
    const { code, stdout } = await runCaptured(main, ['help', name])
    expect(code).toBe(0)
    expect(stdout).toContain('Examples:')
    expect(stdout).toContain(`collector-operator ${name}`)
  })

  it('prints the CRD that its chart installs', async () => {
    const { code, stdout } = await runCaptured(main, ['crd'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^apiVersion: apiextensions/)])
    expect(await readFile(file('chart/crds/collectors.example.com.yaml'), 'utf8')).toContain(stdout)
  })

  it('does not run without settings', async () => {
    const { code, stderr } = await runCaptured(main, ['run'])
    expect([code, stderr]).toEqual([64, expect.stringContaining('--settings')])
  })
})

describe('validate', () => {
  it('accepts the sample', async () => {
    const { code, stdout } = await validate(await sample(), '--settings', file('samples/settings.yaml'))
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 resource checked, 0 errors, 0 warnings')])
  })

  it('knows the clusters of the settings only when it is given them', async () => {
    const elsewhere = (await sample()).replace(/cluster: .*/, 'cluster: nowhere')
    expect(await validate(elsewhere)).toMatchObject({ code: 0 })
    const { code, stdout } = await validate(elsewhere, '--settings', file('samples/settings.yaml'))
    expect(code).toBe(1)
    expect(stdout).toMatch(/^<stdin>:\d+:\d+: error: Collector \S+: spec\.cluster: "nowhere" is unknown/)
  })
})
