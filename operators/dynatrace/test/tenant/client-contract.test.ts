/** Each call of the client against the simulated tenant, happy and unhappy. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unpackZip } from '@reeve/archives'
import { listing, type ScratchFolder, scratchFolder } from '@reeve/archives/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentFileMode } from '../../src/tenant/client/agent-file-mode.ts'
import { codeModules, hostInstaller } from '../../src/tenant/client/installer-target.ts'
import type { TenantClient } from '../../src/tenant/client/tenant-client.ts'
import { TENANT_DEFAULTS } from '../../src/tenant/simulator/defaults.ts'
import type { Fault } from '../../src/tenant/simulator/index.ts'
import { CLUSTER, EVERY_CALL } from './support/every-call.ts'
import { ImpatientClock } from './support/impatient-clock.ts'
import { type Simulated, simulated, TENANT } from './support/simulated.ts'

let tenant: Simulated
let client: TenantClient
let scratch: ScratchFolder

beforeAll(async () => {
  tenant = await simulated()
  client = tenant.client()
  tenant.simulator.tenant(TENANT).hosts.add({ entityId: 'HOST-0000000000000001', ipAddresses: ['10.0.0.5'] })
  scratch = await scratchFolder()
})
afterAll(async () => {
  await tenant[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})
beforeEach(() => {
  tenant.simulator.faults.clear()
  tenant.simulator.clearCalls()
})

// One client for nearly all: failures of one call must not break the connections of the next.
const context = (own?: TenantClient) => ({
  client: own ?? client,
  apiToken: tenant.token('apiToken'),
  folder: scratch.path,
})

describe('what the tenant knows', () => {
  it('comes through every call', async () => {
    const state = tenant.simulator.tenant(TENANT)
    expect(await client.tokens.scopes(tenant.token('apiToken'))).toContain('InstallerDownload')
    const info = await client.connectionInfo.oneAgent()
    expect(info).toMatchObject({ tenantUuid: TENANT, tenantToken: state.connectionInfo.tenantToken })
    expect(info.hosts).toHaveLength(1)
    expect(await client.connectionInfo.activeGate()).toMatchObject({ tenantUuid: TENANT })
    expect(await client.versions.latestAgent(hostInstaller)).toBe(TENANT_DEFAULTS.agentVersion)
    expect(await client.versions.latestAgent(codeModules('arm64'))).toBe(TENANT_DEFAULTS.agentVersion)
    expect(await client.versions.latestGateway()).toBe(TENANT_DEFAULTS.gatewayVersion)
    expect(await client.versions.availableAgents(codeModules('x64'))).toContain(TENANT_DEFAULTS.agentVersion)
    expect((await client.images.oneAgent()).source).toContain('dynatrace-oneagent')
    expect((await client.images.codeModules()).source).toContain('dynatrace-codemodules')
    expect((await client.images.activeGate()).source).toContain('dynatrace-activegate')
    expect((await client.processModules.config({ hostGroup: 'hg' })).properties.length).toBeGreaterThan(0)
    expect((await client.tokens.createForActiveGate('dk')).token).toMatch(/^dt0g02\./)
  })

  it('changes with what is created, and is found again', async () => {
    expect(await client.settings.findCluster(CLUSTER)).toBeUndefined()
    await client.settings.createClusterSetting({ label: 'dk', clusterId: CLUSTER })
    const entity = await client.settings.findCluster(CLUSTER)
    expect(entity).toMatchObject({ name: 'dk', id: expect.stringMatching(/^KUBERNETES_CLUSTER-[0-9A-F]{16}$/) })
    const id = entity?.id ?? ''
    expect(await client.settings.countClusterSettings(id)).toBe(1)
    expect(await client.settings.countKubernetesAppSettings(id)).toBe(0)
    await client.settings.enableKubernetesApp(id)
    expect(await client.settings.countKubernetesAppSettings(id)).toBe(1)
    await client.settings.createLogMonitoringSetting(id, 'dk', [{ attribute: 'k8s.namespace.name', values: ['a'] }])
    expect((await client.settings.logMonitoringSettings(id)).totalCount).toBe(1)
    expect(await client.enrichment.rules(CLUSTER, id)).toEqual([])
    expect(await client.hosts.findByIp('10.0.0.5')).toEqual({ outcome: 'found', entityId: 'HOST-0000000000000001' })
  })

  it('depends on the network zone', async () => {
    expect((await client.connectionInfo.oneAgent({ networkZone: 'unknown' })).hosts.length).toBeGreaterThan(0)
  })
})

describe('downloads', () => {
  it('land unchanged in the file, without conditions', async () => {
    const file = join(scratch.path, 'modules.zip')
    const progress: number[] = []
    const result = await client.installers.download(codeModules('x64'), TENANT_DEFAULTS.agentVersion, file, {
      technologies: ['java', 'nginx'],
      onProgress: ({ receivedBytes }) => progress.push(receivedBytes),
    })
    const bytes = await readFile(file)
    if (result.outcome !== 'downloaded') throw new Error('nothing was downloaded')
    expect(result.sizeBytes).toBe(bytes.byteLength)
    expect(result.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(progress.at(-1)).toBe(bytes.byteLength)
    const [call] = tenant.simulator.calls()
    expect(call?.path).toContain('?flavor=multidistro&arch=x86&bitness=64&skipMetadata=true&include=java&include=nginx')
    expect(Object.keys(call?.headers ?? {})).not.toEqual(expect.arrayContaining(['if-none-match']))
    expect(call?.headers).not.toHaveProperty('range')
  })

  it('are skipped while the copy is current', async () => {
    const file = join(scratch.path, 'cached.zip')
    const first = await client.installers.download(codeModules('x64'), TENANT_DEFAULTS.agentVersion, file)
    if (first.outcome !== 'downloaded' || first.etag === undefined) throw new Error('no entity tag')
    const again = join(scratch.path, 'again.zip')
    const options = { etag: first.etag }
    expect(await client.installers.download(codeModules('x64'), TENANT_DEFAULTS.agentVersion, again, options)).toEqual({
      outcome: 'unchanged',
    })
  })

  it('resume where the connection was closed', async () => {
    const file = join(scratch.path, 'resumed.zip')
    const whole = await client.installers.download(codeModules('x64'), TENANT_DEFAULTS.agentVersion, file)
    tenant.simulator.clearCalls()
    tenant.simulator.faults.add({ kind: 'cut', operation: 'agent-download', afterBytes: 300_000, times: 1 })
    const resumed = await client.installers.download(codeModules('x64'), TENANT_DEFAULTS.agentVersion, file)
    expect(resumed).toEqual(whole)
    const calls = tenant.simulator.calls()
    expect(calls.map(({ status }) => status)).toEqual([200, 206])
    expect(calls[1]?.headers.range).toMatch(/^bytes=\d+-$/)
  })

  it('list the available versions if the version does not exist', async () => {
    const file = join(scratch.path, 'missing.zip')
    await expect(client.installers.download(codeModules('x64'), '9.9.9.9-9', file)).rejects.toThrow(
      /agent download: 404 There is no agent/,
    )
    await expect(client.installers.download(codeModules('x64'), 'nonsense', file)).rejects.toThrow(
      /agent download: 400/,
    )
    expect(tenant.received()).toEqual(['agent-download', 'agent-versions', 'agent-download', 'agent-versions'])
  })

  it('unpack into the layout of an agent', async () => {
    const file = join(scratch.path, 'layout.zip')
    await client.installers.download(codeModules('x64'), TENANT_DEFAULTS.agentVersion, file)
    await using fresh = await scratchFolder()
    await unpackZip(file, fresh.target, { fileMode: agentFileMode })
    const files = Object.entries(await listing(fresh.target))
    expect(files.map(([name]) => name)).toContain(`agent/bin/${TENANT_DEFAULTS.agentVersion}`)
    const configuration = files.filter(([name, content]) => name.startsWith('agent/conf/') && !content.endsWith(' /'))
    expect(configuration.length).toBeGreaterThan(0)
    for (const [, content] of configuration) expect(content).toMatch(/^666 /)
  })
})

describe.each(EVERY_CALL)('$operation', ({ operation, isRepeatable, toleratesSilence = false, run }) => {
  const add = (fault: Fault & { readonly times?: number }) => tenant.simulator.faults.add({ ...fault, operation })

  it('succeeds', async () => {
    await run(context())
    expect(tenant.received()).toContain(operation)
  })

  it('is refused for a token that was revoked', async () => {
    add({ kind: 'unauthorized' })
    await expect(run(context())).rejects.toMatchObject({ code: 'ENVIRONMENT_API', status: 401 })
  })

  it('is refused for a token without the scope', async () => {
    add({ kind: 'missing-scope' })
    await expect(run(context())).rejects.toMatchObject({ code: 'ENVIRONMENT_API', server: { code: 403 } })
  })

  it('retries when a busy tenant asks for it', async () => {
    add({ kind: 'rate-limit', retryAfterSeconds: 1, times: 1 })
    const clock = new ImpatientClock()
    await run(context(tenant.client({ clock })))
    expect(clock.pausesMs).toEqual([expect.toSatisfy((pauseMs) => pauseMs >= 1_000 && pauseMs <= 1_100)])
    expect(tenant.received().filter((name) => name === operation).length).toBeGreaterThanOrEqual(2)
  })

  it('reports the retry time of a busy tenant if it is too long', async () => {
    add({ kind: 'rate-limit', retryAfterSeconds: 600 })
    await expect(run(context())).rejects.toMatchObject({ status: 429, retryAfterMs: 600_000 })
  })

  it('is repeated after a failure that passes only if it is safe to', async () => {
    add({ kind: 'status', status: 503, times: 1 })
    if (isRepeatable) await run(context())
    else await expect(run(context())).rejects.toMatchObject({ status: 503 })
  })

  it('is not repeated after an error of the tenant', async () => {
    add({ kind: 'status', status: 500, message: 'out of order' })
    await expect(run(context())).rejects.toThrow(/500 out of order/)
    expect(tenant.received().filter((name) => name === operation)).toHaveLength(1)
  })

  it('shows the page of a proxy that responds in its place', async () => {
    const headers = { 'x-forwarded-for': 'proxy-7' }
    add({ kind: 'status', status: 502, body: 'html', headers })
    await expect(run(context())).rejects.toMatchObject({
      code: 'ENVIRONMENT_UNREADABLE',
      status: 502,
      message: expect.stringMatching(/via proxy proxy-7.*text\/html/),
    })
  })

  it('survives a connection that is cut, if it is safe to repeat', async () => {
    add({ kind: 'cut', times: 1 })
    if (isRepeatable) await run(context())
    else await expect(run(context())).rejects.toMatchObject({ code: 'HTTP_CONNECTION' })
  })

  it('ends at its deadline when nothing comes', async () => {
    add({ kind: 'slow', delayMs: 20_000 })
    const outcome = run({ ...context(), timeoutMs: 20 })
    if (toleratesSilence) await outcome
    else await expect(outcome).rejects.toMatchObject({ code: 'HTTP_DEADLINE_EXCEEDED' })
  })

  it('stops when its caller does', async () => {
    add({ kind: 'slow', delayMs: 20_000 })
    const reason = new Error('shutting down')
    const stop = new AbortController()
    const outcome = run({ ...context(), signal: stop.signal })
    setImmediate(() => stop.abort(reason))
    await expect(outcome).rejects.toBe(reason)
  })

  const readsNoJson = ['agent-download', 'events'].includes(operation)
  it(`${readsNoJson ? 'accepts' : 'reports'} a response that is not JSON`, async () => {
    add({ kind: 'malformed-json' })
    const outcome = run(context())
    if (readsNoJson) await outcome
    else await expect(outcome).rejects.toMatchObject({ code: 'ENVIRONMENT_BAD_RESPONSE' })
  })

  it('does not mind a wrong content type around the right content', async () => {
    add({ kind: 'content-type', contentType: 'text/html' })
    await run(context())
  })
})
