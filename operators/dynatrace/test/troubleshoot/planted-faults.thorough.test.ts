import { runCaptured } from '@reeve/cli/testing'
import { ValidatingWebhookConfigurations } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { DynaKubes } from '../../src/index.ts'
import { helmPath } from '../support/render-chart.ts'
import { addDynaKube, without } from './support/faults/planted-fault.ts'
import { type HealthyStage, NAMESPACE, setHealthyStage, TENANT } from './support/healthy-stage.ts'
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

  it('does not claim that the API server reaches a webhook that is not registered', async () => {
    const undo = await without(ValidatingWebhookConfigurations, { name: 'dynatrace-webhook' })(stage)
    try {
      const { findings } = await stage.troubleshoot()
      const messages = findings.filter(({ check }) => check === 'webhook').map(({ message }) => message)
      expect(messages).toContain('the ValidatingWebhookConfiguration dynatrace-webhook does not exist')
      expect(messages.filter((message) => message.includes('reaches'))).toEqual([])
    } finally {
      await undo()
    }
  })

  it('ends with the first prerequisite that fails', async () => {
    const checks = async (...args: string[]) => [
      ...new Set((await stage.troubleshoot(args)).findings.map(({ check }) => check)),
    ]
    // The line without a name says which namespace is checked.
    expect(await checks('-n', 'absent')).toEqual(['', 'oneAgentAPM', 'namespace'])
    const undo = await PLANTED_FAULTS.find(({ check }) => check === 'oneAgentAPM')?.plant(stage)
    expect(await checks()).toEqual(['', 'oneAgentAPM'])
    await undo?.()
  })

  it('checks the other DynaKubes when the tokens of one are missing', async () => {
    const undo = await addDynaKube(stage, { tokens: 'absent' })
    try {
      const { findings } = await stage.troubleshoot()
      const ofKubes = findings.filter(({ check, status }) => check === 'dynakube' && /^(error|ok)$/.test(status))
      const about = (name: string, status: string) =>
        ofKubes.some((finding) => finding.status === status && finding.message.includes(name))
      expect(about('absent', 'error')).toBe(true)
      expect(about('dynatrace/abc12345', 'ok')).toBe(true)
    } finally {
      await undo()
    }
  })

  it('checks the other images when the registry of one cannot be reached', async () => {
    const undo = await stage.editDynaKube({ oneAgent: { cloudNativeFullStack: { image: '127.0.0.1:9/agent:1' } } })
    try {
      const { findings } = await stage.troubleshoot()
      const ofImages = findings.filter(({ check }) => check === 'dynakube.imagepull')
      const status = (image: string) => ofImages.find(({ message }) => message.includes(image))?.status
      expect(status('OneAgent (custom image)')).toBe('error')
      expect(status('ActiveGate')).toBe('ok')
    } finally {
      await undo()
    }
  })

  it('only mentions that there is no image of code modules', async () => {
    const key = { namespace: NAMESPACE, name: TENANT }
    const undo = await stage.editDynaKube({ oneAgent: { cloudNativeFullStack: {} } })
    const { status, ...rest } = await stage.client.get(DynaKubes, key)
    const { codeModules: _, ...without } = status ?? {}
    await stage.client.update(DynaKubes, { ...rest, status: without }, { subresource: 'status' })
    try {
      const { findings, passed } = await stage.troubleshoot()
      const about = findings.filter(({ message }) => message.includes('OneAgentCodeModules'))
      expect(about.map((finding) => finding.status)).toEqual(['info'])
      expect(passed).toBe(true)
    } finally {
      await undo()
      const { metadata } = await stage.client.get(DynaKubes, key)
      const before = { ...rest, metadata, ...(status && { status }) }
      await stage.client.update(DynaKubes, before, { subresource: 'status' })
    }
  })

  it('has one line about proxies when there are none', async () => {
    const { findings } = await stage.troubleshoot()
    const about = findings.filter(({ check, status }) => check === 'dynakube.proxy' && status !== 'start')
    expect(about).toEqual([{ check: 'dynakube.proxy', status: 'ok', message: 'no proxy is configured' }])
  })

  it('finds nothing wrong once all faults are removed', async () => {
    const { passed, text } = await stage.troubleshoot(['--pod', 'shop/injected'])
    expect(passed, text).toBe(true)
  })
})
