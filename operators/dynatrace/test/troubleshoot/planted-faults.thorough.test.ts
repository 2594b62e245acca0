import { runCaptured } from '@reeve/cli/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { helmPath } from '../support/render-chart.ts'
import { type HealthyStage, NAMESPACE, setHealthyStage } from './support/healthy-stage.ts'
import { PLANTED_FAULTS } from './support/planted-faults.ts'

describe.skipIf(helmPath === undefined)('troubleshoot (skipped without helm)', () => {
  let stage: HealthyStage
  beforeAll(async () => {
    stage = await setHealthyStage()
  })
  afterAll(() => stage?.[Symbol.asyncDispose]())

  it('finds nothing wrong with a healthy installation', async () => {
    const report = await stage.troubleshoot(['--pod', 'shop/injected'])
    expect(report.findings.filter(({ status }) => status === 'error' || status === 'warning')).toEqual([])
    expect(report).toMatchObject({ code: 0, passed: true })
  })

  it('passes as the account of the operator, and says what that account may not see', async () => {
    const env = { KUBECONFIG: await stage.kubeconfigOf('dynatrace-operator') }
    const report = await stage.troubleshoot(['--pod', 'shop/injected'], env)
    const notable = report.findings.filter(({ status }) => status === 'error' || status === 'warning')
    const own = expect.stringContaining('your own kubeconfig')
    expect(notable).toEqual([
      { check: 'csi', status: 'warning', message: expect.stringContaining('may not list CSINodes'), remedy: own },
      { check: 'pod', status: 'warning', message: expect.stringContaining('pods of the namespace shop'), remedy: own },
    ])
    expect(report).toMatchObject({ code: 0, passed: true })
    const passed = report.findings.filter(({ status }) => status === 'ok').map(({ check }) => check)
    const checks = ['namespace', 'crd', 'clock', 'webhook', 'csi', 'dynakube', 'dynakube.imagepull', 'dynakube.proxy']
    expect(passed).toEqual(expect.arrayContaining(checks))
  })

  it('prints lines for people, coloured on a terminal only', async () => {
    const env = { KUBECONFIG: stage.kubeconfig }
    const plain = await runCaptured(main, ['troubleshoot', '-n', NAMESPACE], { env })
    expect(plain.stdout).toContain('[namespace ] \t--- checking if namespace dynatrace exists ...\n')
    expect(plain.stdout).toContain('[namespace ] \t ✓  using namespace dynatrace\n')
    expect(plain.stdout).not.toContain('\u001b')
    const coloured = await runCaptured(main, ['troubleshoot', '-n', NAMESPACE], { env, hasColors: true })
    expect(coloured.stdout).toContain('\u001b[32m ✓  using namespace dynatrace\u001b[0m\n')
  })

  for (const { name, plant, args, env, check, message, remedy, status = 'error' } of PLANTED_FAULTS) {
    it(`says what to do when ${name}`, async () => {
      const undo = await plant(stage)
      try {
        const { code, passed, findings, text } = await stage.troubleshoot(args, env)
        const found = findings.find((finding) => finding.check === check && message.test(finding.message))
        expect(found, text).toMatchObject({ status, remedy: expect.stringMatching(remedy) })
        expect([code, passed]).toEqual(status === 'error' ? [1, false] : [0, true])
        for (const secret of ['hunter22', 'SECRET', 'NEVERISSUED']) expect(text).not.toContain(secret)
      } finally {
        await undo()
        await stage.untilReady()
      }
    })
  }

  it('finds nothing wrong once all faults are removed', async () => {
    const { passed, text } = await stage.troubleshoot(['--pod', 'shop/injected'])
    expect(passed, text).toBe(true)
  })
})
