/** Tokens that are missing, too few, too many or of an earlier release. */
import { Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { DynaKubes } from '../../src/index.ts'
import { inError, key, operations, settled, WITHOUT_KEY } from './support/questions.ts'
import { type Stage, setStage, tokensOf } from './support/stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage(['keyless', 'paas', 'former', 'exporting', 'growing', 'unused'])
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const hosts = { oneAgent: { hostMonitoring: {} } }
const tokenOf = (tenant: string, name: string) => stage.simulator.tenant(tenant).tokens.get(name)?.value ?? ''
const replaceTokens = (tenant: string, data: Readonly<Record<string, string>>) =>
  stage.client.patch(Secrets, key(tokensOf(tenant)), {
    type: 'json',
    patch: [{ op: 'replace', path: '/data', value: encodeSecret(data) }],
  })

describe('the Secret of the tokens', () => {
  it('without apiToken is an error, and no request is sent', async () => {
    await replaceTokens('keyless', { dataIngestToken: 'x' })
    await stage.create('keyless', hosts)
    await inError(stage, 'keyless')
    expect(await stage.condition('keyless', 'Tokens')).toMatchObject({
      status: 'False',
      reason: 'TokenError',
      message: 'the Secret dynatrace/keyless-tokens has no apiToken; add one',
    })
    expect(operations(stage, 'keyless')).toEqual([])
  })

  it('with a paasToken need not let the apiToken download', async () => {
    const { tokens } = stage.simulator.tenant('paas')
    tokens.setScopes('apiToken', ['DataExport'])
    tokens.add({ name: 'paasToken', scopes: ['InstallerDownload'] })
    await replaceTokens('paas', { apiToken: tokenOf('paas', 'apiToken'), paasToken: tokenOf('paas', 'paasToken') })
    await stage.create('paas', hosts)
    await settled(stage, 'paas')
    expect(await stage.condition('paas', 'Tokens')).toMatchObject({
      status: 'True',
      reason: 'TokenReady',
      message: 'The tokens are ready; there is no dataIngestToken',
    })
    // Each token that is present was looked up.
    expect(operations(stage, 'paas').filter((operation) => operation === 'token-lookup')).toHaveLength(2)
  })

  it('with an invalid token that no feature uses is an error until the token is corrected', async () => {
    const apiToken = tokenOf('unused', 'apiToken')
    await replaceTokens('unused', { apiToken, dataIngestToken: 'dt0c01.INVALID.TOKEN' })
    await stage.create('unused', hosts)
    await inError(stage, 'unused')
    const condition = await stage.condition('unused', 'Tokens')
    expect(condition).toMatchObject({ status: 'False', reason: 'TokenError' })
    expect(condition?.message).toMatch(/^dataIngestToken: /)
    expect(condition?.message).not.toContain('INVALID')
    await replaceTokens('unused', { apiToken, dataIngestToken: tokenOf('unused', 'dataIngestToken') })
    await settled(stage, 'unused')
    expect(await stage.condition('unused', 'Tokens')).toMatchObject({ status: 'True', reason: 'TokenReady' })
  })

  it('needs a dataIngestToken where exporters are configured, and nowhere else', async () => {
    await replaceTokens('exporting', { apiToken: tokenOf('exporting', 'apiToken') })
    await stage.create('exporting', {
      oneAgent: { applicationMonitoring: {} },
      otlpExporterConfiguration: { signals: { metrics: {} } },
    })
    await inError(stage, 'exporting')
    expect(await stage.condition('exporting', 'OTLPExporterConfigSecret')).toMatchObject({
      status: 'False',
      reason: 'SecretGenerationFailed',
      message: expect.stringContaining('has no dataIngestToken'),
    })
    const copies = async () => {
      const { items } = await stage.client.list(Secrets, { namespace: 'default' })
      return items.map(({ metadata }) => metadata.name).sort()
    }
    const ofCodeModules = ['dynatrace-bootstrapper-certs', 'dynatrace-bootstrapper-config']
    expect(await stage.condition('exporting', 'BootstrapperConfig')).toMatchObject({ status: 'True' })
    expect(await copies()).toEqual(ofCodeModules)
    await replaceTokens('exporting', {
      apiToken: tokenOf('exporting', 'apiToken'),
      dataIngestToken: tokenOf('exporting', 'dataIngestToken'),
    })
    await settled(stage, 'exporting')
    expect(await stage.condition('exporting', 'OTLPExporterConfigSecret')).toMatchObject({ status: 'True' })
    expect(await copies()).toEqual([
      ...ofCodeModules,
      'dynatrace-otlp-exporter-certs',
      'dynatrace-otlp-exporter-config',
    ])
  })
})

describe('tokens that lack a scope for what was switched on', () => {
  it('are reported until they have it, not only until the next reconcile', async () => {
    const { tokens } = stage.simulator.tenant('growing')
    const scopes = ['InstallerDownload', 'DataExport']
    tokens.setScopes('apiToken', scopes)
    await stage.create('growing', hosts, WITHOUT_KEY)
    await settled(stage, 'growing')
    await stage.edit('growing', { spec: { activeGate: { capabilities: ['kubernetes-monitoring'] } } })
    const failures = () =>
      stage.records.flatMap(({ key: { name }, error }) => (name === 'growing' && error !== undefined ? [error] : []))
    await stage.until(() => failures().length >= 2)
    expect(failures().filter((error) => !error.includes('activeGateTokenManagement.create'))).toEqual([])
    expect(await stage.condition('growing', 'Tokens')).toMatchObject({ status: 'False', reason: 'TokenError' })
    tokens.setScopes('apiToken', [...scopes, 'activeGateTokenManagement.create'])
    await stage.reconcile('growing')
    await settled(stage, 'growing')
    expect(await stage.condition('growing', 'Tokens')).toMatchObject({ status: 'True', reason: 'TokenReady' })
  })
})

describe('conditions of earlier releases', () => {
  it('about single tokens go', async () => {
    await stage.create('former', hosts)
    await settled(stage, 'former')
    const former = ['APIToken', 'PaaSToken', 'DataIngestToken'].map((type) => ({
      type,
      status: 'True',
      reason: 'TokenReady',
      message: '',
      lastTransitionTime: '2024-01-01T00:00:00Z',
    }))
    const { status } = await stage.read('former')
    const patch = { status: { conditions: [...(status?.conditions ?? []), ...former] } }
    await stage.client.patch(DynaKubes, key('former'), { type: 'merge', patch }, { subresource: 'status' })
    await stage.reconcile('former')
    await stage.until(async () => {
      const { conditions = [] } = (await stage.read('former')).status ?? {}
      return conditions.some(({ type }) => type === 'Tokens') && !conditions.some(({ type }) => type === 'APIToken')
    })
    for (const { type } of former) expect(await stage.condition('former', type)).toBeUndefined()
  })
})
