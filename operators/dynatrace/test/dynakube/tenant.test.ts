/** How the controller of DynaKubes talks to a tenant, in good and in bad times. */
import { DaemonSets, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { decodeSecret, encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { DynaKubes } from '../../src/index.ts'
import { WITHOUT_KEY } from './support/questions.ts'
import { NAMESPACE, type Stage, setStage, tokensOf } from './support/stage.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const TENANTS = [
  'steady',
  'eager',
  'padded',
  'scopeless',
  'unscoped',
  'hostless',
  'busy',
  'broken',
  'lossy',
  'rotating',
  'older',
  'pinned',
  'imaged',
  'public',
  'tagged',
  'nameless',
  'damaged',
  'mistyped',
] as const

let stage: Stage
beforeAll(async () => {
  stage = await setStage(TENANTS)
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const hosts: Partial<DynaKubeSpec> = { oneAgent: { hostMonitoring: {} } }
const gateway: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['routing'] } }

const settled = (name: string) =>
  stage.until(async () => {
    const { status } = await stage.read(name)
    return status?.phase !== undefined && status.phase !== 'Error'
  })
const inError = (name: string) => stage.until(async () => (await stage.read(name)).status?.phase === 'Error')
const callsOf = (tenant: string) => stage.simulator.calls().filter((call) => call.tenant === tenant)
const operations = (tenant: string) => callsOf(tenant).map(({ operation }) => operation)
const secret = async (name: string) =>
  decodeSecret((await stage.client.get(Secrets, { namespace: NAMESPACE, name })).data)
const agent = async (name: string) => (await stage.read(name)).status?.oneAgent

describe('calls', () => {
  it('are made once per request threshold', async () => {
    await stage.create('steady', { ...hosts, activeGate: { capabilities: ['metrics-ingest'] } }, WITHOUT_KEY)
    await settled('steady')
    await stage.reconcile('steady')
    stage.simulator.clearCalls()
    stage.advance(5 * MINUTE)
    await stage.reconcile('steady')
    expect(operations('steady')).toEqual([])
    stage.advance(11 * MINUTE)
    await stage.reconcile('steady')
    const lookups = callsOf('steady').filter(({ operation }) => operation === 'token-lookup')
    expect(lookups.map(({ token }) => token).sort()).toEqual(['apiToken', 'dataIngestToken'])
    expect(operations('steady')).toContain('agent-connection-info')
  })

  it('are made each time when the threshold is 0', async () => {
    await stage.create('eager', { ...hosts, dynatraceApiRequestThreshold: 0 })
    await settled('eager')
    stage.simulator.clearCalls()
    await stage.reconcile('eager')
    const expected = ['token-lookup', 'agent-connection-info', 'agent-latest-version']
    expect(operations('eager')).toEqual(expect.arrayContaining(expected))
  })
})

describe('tokens', () => {
  it('with white space around them are named', async () => {
    const data = encodeSecret({ apiToken: `${stage.simulator.tenant('padded').tokens.get('apiToken')?.value}\n` })
    await stage.client.patch(
      Secrets,
      { namespace: NAMESPACE, name: tokensOf('padded') },
      { type: 'merge', patch: { data } },
    )
    await stage.create('padded', hosts)
    await inError('padded')
    const { reason, message } = (await stage.condition('padded', 'Tokens')) ?? {}
    expect(reason).toBe('TokenError')
    expect(message).toContain('apiToken begins or ends with white space')
  })

  it('without a scope that a feature needs are refused, naming both', async () => {
    stage.simulator.tenant('scopeless').tokens.setScopes('apiToken', ['InstallerDownload', 'DataExport'])
    await stage.create('scopeless', gateway)
    await inError('scopeless')
    const { message } = (await stage.condition('scopeless', 'Tokens')) ?? {}
    expect(message).toContain('activeGateTokenManagement.create')
    expect(message).toContain('Automatic ActiveGate Token Creation')
  })

  it('without optional scopes do', async () => {
    const scopes = ['InstallerDownload', 'DataExport', 'activeGateTokenManagement.create']
    stage.simulator.tenant('unscoped').tokens.setScopes('apiToken', scopes)
    await stage.create('unscoped', { activeGate: { capabilities: ['kubernetes-monitoring'] } }, WITHOUT_KEY)
    await settled('unscoped')
    expect(await stage.condition('unscoped', 'Tokens')).toMatchObject({ status: 'True' })
    for (const type of ['ApiTokenSettingsRead', 'ApiTokenSettingsWrite']) {
      expect(await stage.condition('unscoped', type)).toMatchObject({ status: 'False', reason: 'ScopeMissing' })
    }
    expect(operations('unscoped').filter((operation) => operation.startsWith('settings'))).toEqual([])
    await stage.edit('unscoped', { spec: { activeGate: { capabilities: ['routing'] } } })
    stage.advance(16 * MINUTE)
    await stage.reconcile('unscoped')
    for (const type of ['ApiTokenSettingsRead', 'ApiTokenSettingsWrite']) {
      await stage.until(async () => (await stage.condition('unscoped', type)) === undefined)
    }
  })
})

describe('a tenant', () => {
  it('without endpoints is waited for', async () => {
    stage.simulator.tenant('hostless').connectionInfo.endpoints = []
    const templates = { kspmNodeConfigurationCollector: { imageRef: { repository: 'r.example.com/ncc', tag: '1' } } }
    const kspm = { kspm: { mappedHostPaths: ['/etc'] }, templates }
    await stage.create('hostless', { oneAgent: { cloudNativeFullStack: {} }, ...gateway, ...kspm }, WITHOUT_KEY)
    await stage.until(async () => {
      return (await stage.condition('hostless', 'OneAgentConnectionInfo'))?.reason === 'EmptyCommunicationHosts'
    })
    const { outcome, nextRunMs = 0, startedMs, durationMs } = await stage.reconcile('hostless')
    expect(outcome).toBe('requeue_after')
    expect(nextRunMs - startedMs - durationMs).toBe(MINUTE)
    await expect(secret('hostless-oneagent-tenant-secret')).rejects.toThrow()
    expect(await secret('hostless-activegate-tenant-secret')).toHaveProperty('tenant-token')
    // No pod is injected, and no agent and no collector runs.
    const { items } = await stage.client.list(DaemonSets, { namespace: NAMESPACE })
    expect(items.filter(({ metadata }) => metadata.name.startsWith('hostless'))).toEqual([])
    await expect(secret('hostless-bootstrapper-config')).rejects.toThrow()
    await expect(secret('hostless-kspm-token')).rejects.toThrow()
    expect(operations('hostless')).not.toContain('agent-latest-version')
    expect(await stage.condition('hostless', 'CodeModulesInjection')).toBeUndefined()
  })

  it('that is busy is not called, without a report', async () => {
    const fault = stage.simulator.faults.add({ kind: 'status', status: 503, tenant: 'busy' })
    await stage.create('busy', hosts)
    const record = await stage.reconcile('busy')
    expect(record.outcome).toBe('requeue_after')
    expect((await stage.read('busy')).status).toBeUndefined()
    fault.remove()
  })

  it('behind a broken proxy is an error', async () => {
    const fault = stage.simulator.faults.add({ kind: 'status', status: 503, body: 'html', tenant: 'broken' })
    await stage.create('broken', hosts)
    await inError('broken')
    const record = stage.records.find(({ key: { name }, error }) => name === 'broken' && error !== undefined)
    expect([record?.outcome, record?.error]).toEqual(['error', expect.stringContaining('HTTP status 503')])
    fault.remove()
    await settled('broken')
  })

  it('returns a token that was lost', async () => {
    await stage.create('lossy', hosts)
    await settled('lossy')
    const before = await secret('lossy-oneagent-tenant-secret')
    stage.simulator.clearCalls()
    await stage.client.delete(Secrets, { namespace: NAMESPACE, name: 'lossy-oneagent-tenant-secret' })
    await stage.until(async () => {
      const lists = await stage.client.list(Secrets, { namespace: NAMESPACE })
      return lists.items.some(({ metadata }) => metadata.name === 'lossy-oneagent-tenant-secret')
    })
    expect(await secret('lossy-oneagent-tenant-secret')).toEqual(before)
    expect(operations('lossy')).toContain('agent-connection-info')
  })
})

describe('the token of gateways', () => {
  it('is replaced before it ends', async () => {
    const name = 'rotating-activegate-authtoken-secret'
    await stage.create('rotating', gateway, WITHOUT_KEY)
    await settled('rotating')
    const first = await secret(name)
    stage.advance(28 * DAY)
    await stage.reconcile('rotating')
    expect(await secret(name)).toEqual(first)
    stage.advance(DAY + MINUTE)
    await stage.reconcile('rotating')
    await stage.until(async () => {
      const next = await secret(name).catch(() => first)
      return next['auth-token'] !== first['auth-token']
    })
  })
})

describe('versions', () => {
  it('name an image of the tenant, and never go back', async () => {
    const { versions } = stage.simulator.tenant('older')
    versions.release('1.283.132.20240205-143805')
    versions.agent = '1.283.132.20240205-143805'
    await stage.create('older', hosts)
    await settled('older')
    expect(await agent('older')).toMatchObject({
      imageID: `${stage.simulator.authority}/linux/oneagent:1.283.132-raw`,
      version: '1.283.132.20240205-143805',
    })
    versions.agent = '1.200.0.20200101-000000'
    stage.advance(16 * MINUTE)
    await stage.reconcile('older')
    expect((await agent('older'))?.version).toBe('1.283.132.20240205-143805')
    expect(await stage.condition('older', 'OneAgentVersion')).toMatchObject({ status: 'False', reason: 'Downgrade' })
  })

  it('can be pinned, and stay when the tenant cannot be reached', async () => {
    await stage.create('pinned', hosts)
    await settled('pinned')
    const { version } = (await agent('pinned')) ?? {}
    const fault = stage.simulator.faults.add({ kind: 'status', status: 500, tenant: 'pinned', path: 'metainfo' })
    stage.advance(16 * MINUTE)
    await stage.reconcile('pinned')
    fault.remove()
    expect((await agent('pinned'))?.version).toBe(version)
    expect((await stage.read('pinned')).status?.phase).not.toBe('Error')
  })

  it('are not requested when there is an image', async () => {
    await stage.create('imaged', { oneAgent: { hostMonitoring: { image: 'registry.example.com/agent:1' } } })
    await settled('imaged')
    expect(await agent('imaged')).toMatchObject({ imageID: 'registry.example.com/agent:1', version: 'custom-image' })
    expect(operations('imaged')).not.toContain('agent-latest-version')
    expect(operations('imaged')).not.toContain('latest-image')
    expect(await stage.condition('imaged', 'OneAgentVersion')).toMatchObject({
      status: 'True',
      reason: 'VerificationSkipped',
    })
  })

  it('may come from a public registry', async () => {
    const tag = '1.300.1.20240101-000000'
    stage.simulator.tenant('public').versions.setImage('oneAgent', { source: 'public.example.com/oneagent', tag })
    await stage.create('public', hosts, { 'feature.dynatrace.com/public-registry': 'true' })
    await settled('public')
    expect(await agent('public')).toMatchObject({ imageID: `public.example.com/oneagent:${tag}`, version: tag })
  })

  it('that cannot be compared are reported, and the image stays', async () => {
    const { versions } = stage.simulator.tenant('tagged')
    const image = { source: 'public.example.com/oneagent', tag: '1.300.1.20240101-000000' }
    versions.setImage('oneAgent', image)
    await stage.create('tagged', hosts, { 'feature.dynatrace.com/public-registry': 'true' })
    await settled('tagged')
    versions.setImage('oneAgent', { ...image, tag: 'latest' })
    stage.advance(16 * MINUTE)
    expect((await stage.reconcile('tagged')).outcome).toBe('requeue_after')
    expect((await agent('tagged'))?.imageID).toBe(`${image.source}:${image.tag}`)
    expect(await stage.condition('tagged', 'OneAgentVersion')).toMatchObject({ reason: 'VerificationFailed' })
  })

  it('in the spec that cannot be parsed are reported until they are removed', async () => {
    await stage.create('mistyped', hosts)
    await settled('mistyped')
    const declare = async (version: string | null) => {
      const patch = { spec: { oneAgent: { hostMonitoring: { version } } } }
      await stage.client.patch(DynaKubes, { namespace: NAMESPACE, name: 'mistyped' }, { type: 'merge', patch })
      await stage.reconcile('mistyped')
      return stage.condition('mistyped', 'OneAgentVersion')
    }
    expect(await declare('nonsense')).toMatchObject({ message: expect.stringContaining('"nonsense" cannot be parsed') })
    expect(await declare(null)).toMatchObject({ status: 'True', reason: 'Verified' })
  })

  it('in the status that cannot be parsed are replaced immediately', async () => {
    await stage.create('damaged', hosts)
    await settled('damaged')
    const { version } = (await agent('damaged')) ?? {}
    const { status } = await stage.read('damaged')
    const patch = { status: { oneAgent: { ...status?.oneAgent, version: 'nonsense' } } }
    const key = { namespace: NAMESPACE, name: 'damaged' }
    await stage.client.patch(DynaKubes, key, { type: 'merge', patch }, { subresource: 'status' })
    expect((await agent('damaged'))?.version).toBe('nonsense')
    await stage.reconcile('damaged')
    expect((await agent('damaged'))?.version).toBe(version)
    await settled('damaged')
  })

  it('without a name are an error as long as there was none before', async () => {
    const { versions } = stage.simulator.tenant('nameless')
    const version = versions.agent
    versions.agent = ''
    await stage.create('nameless', hosts)
    await inError('nameless')
    expect(await stage.condition('nameless', 'OneAgentVersion')).toMatchObject({
      status: 'False',
      reason: 'VerificationFailed',
      message: expect.stringContaining('has no version'),
    })
    versions.agent = version
    await settled('nameless')
    versions.agent = ''
    stage.advance(16 * MINUTE)
    expect((await stage.reconcile('nameless')).outcome).toBe('requeue_after')
    expect((await agent('nameless'))?.version).toBe(version)
  })
})
