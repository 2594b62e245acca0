/** Temporary failures end in the desired objects, and are reported until then. */
import { ConfigMaps, DaemonSets, StatefulSets } from '@reeve/kube'
import { differences, formatDifference } from '@reeve/simulation'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { TOKEN_SCOPES } from '../../src/tenant/simulator/index.ts'
import { type ClosedStage, NAMESPACE, setClosedStage } from './support/closed-stage.ts'
import { lookAt, objectsOf } from './support/cluster-objects.ts'
import { specWith, USER_SECRETS } from './support/features.ts'
import { FULL } from './support/full-dynakube.ts'

const MINUTE = 60_000

let stage: ClosedStage
let fresh: Awaited<ReturnType<typeof lookAt>>
beforeAll(async () => {
  stage = await setClosedStage({ hasPods: true })
  for (const [name, data] of Object.entries(USER_SECRETS)) await stage.addSecret(name, data)
  fresh = await installed(FULL)
  await stage.delete()
})
afterAll(() => stage?.[Symbol.asyncDispose]())
afterEach(async () => {
  stage.simulator.faults.clear()
  await stage.deleteIfThere()
  await stage.advance(MINUTE)
})

/** Installs, and returns the state when everything runs. */
async function installed(spec: Partial<DynaKubeSpec>) {
  await stage.deleteIfThere()
  await stage.settle()
  await stage.create(spec)
  await stage.untilPhase('Running')
  await stage.settle()
  return lookAt(stage)
}

async function expectFresh(expected = fresh): Promise<void> {
  await stage.untilPhase('Running')
  await stage.settle()
  expect(differences(expected, await lookAt(stage)).map(formatDifference)).toEqual([])
  const untrue = (await stage.read()).status?.conditions?.filter(({ status }) => status !== 'True')
  expect(untrue).toEqual([])
}

/** Advances the clock until the tenant is called again. */
async function askAgain(): Promise<void> {
  await stage.advance(16 * MINUTE)
  await stage.touch()
  await stage.advance(2 * MINUTE)
}

describe('a tenant that cannot be reached', () => {
  it('during an installation is reported, and the installation continues afterwards', async () => {
    const fault = stage.simulator.faults.add({ kind: 'cut' })
    await stage.create(FULL)
    await stage.untilPhase('Error')
    expect(await stage.condition('Tokens')).toMatchObject({ status: 'False', reason: 'TokenError' })
    await stage.advance(30 * MINUTE)
    fault.remove()
    await expectFresh()
  })

  it('while everything runs deletes nothing, and is reported', async () => {
    await installed(FULL)
    const before = objectsOf(stage)
    const fault = stage.simulator.faults.add({ kind: 'cut' })
    await askAgain()
    await stage.advance(60 * MINUTE)
    expect(differences(before, objectsOf(stage)).map(formatDifference)).toEqual([])
    expect((await stage.read()).status?.phase).toBe('Error')
    expect(await stage.condition('Tokens')).toMatchObject({ status: 'False' })
    fault.remove()
    await expectFresh()
  })

  it('for maintenance changes nothing at all', async () => {
    await installed(FULL)
    const { resourceVersion } = (await stage.read()).metadata
    const fault = stage.simulator.faults.add({ kind: 'status', status: 503 })
    await stage.advance(60 * MINUTE)
    expect((await stage.read()).metadata.resourceVersion).toBe(resourceVersion)
    fault.remove()
    await expectFresh()
  })

  it.each(['agent-connection-info', 'gateway-connection-info', 'active-gate-token', 'process-module-config'])(
    'for %s only delays what needs it',
    async (operation) => {
      const fault = stage.simulator.faults.add({ kind: 'status', status: 500, operation })
      await stage.create(FULL)
      await stage.untilPhase('Error')
      expect(await stage.condition('Tokens')).toMatchObject({ status: 'True' })
      const failing = (await stage.read()).status?.conditions?.filter(({ status }) => status === 'False') ?? []
      expect(failing.map(({ reason }) => reason)).toContain('DynatraceApiError')
      await stage.advance(10 * MINUTE)
      fault.remove()
      await expectFresh()
    },
  )
})

describe('tokens', () => {
  it('that are revoked are reported, delete nothing, and are replaced by new ones', async () => {
    await installed(FULL)
    const before = objectsOf(stage)
    const { tokens } = stage.tenant
    const value = tokens.get('apiToken')?.value ?? ''
    tokens.revoke('apiToken')
    await askAgain()
    expect((await stage.read()).status?.phase).toBe('Error')
    expect((await stage.condition('Tokens'))?.message).toContain('apiToken')
    expect(differences(before, objectsOf(stage)).map(formatDifference)).toEqual([])
    tokens.add({ name: 'apiToken', value })
    await expectFresh()
  })

  it('without a required scope are reported until they have it', async () => {
    const scopes = TOKEN_SCOPES.apiToken ?? []
    stage.tenant.tokens.setScopes(
      'apiToken',
      scopes.filter((scope) => scope !== 'activeGateTokenManagement.create'),
    )
    await stage.create(FULL)
    await stage.untilPhase('Error')
    expect((await stage.condition('Tokens'))?.message).toContain('activeGateTokenManagement.create')
    stage.tenant.tokens.setScopes('apiToken', scopes)
    await expectFresh()
  })

  it('without scopes that would be good to have do less, and more once they have them', async () => {
    const scopes = TOKEN_SCOPES.apiToken ?? []
    stage.tenant.tokens.setScopes(
      'apiToken',
      scopes.filter((scope) => !scope.startsWith('settings.')),
    )
    await stage.create(FULL)
    await stage.untilPhase('Running')
    for (const type of [
      'ApiTokenSettingsRead',
      'ApiTokenSettingsWrite',
      'MonitoredEntity',
      'MetadataEnrichmentRules',
    ]) {
      expect(await stage.condition(type)).toMatchObject({ status: 'False', reason: 'ScopeMissing' })
    }
    stage.tenant.tokens.setScopes('apiToken', scopes)
    await askAgain()
    await expectFresh()
  })
})

describe('a new version', () => {
  it('is rolled out automatically, and the status follows', async () => {
    await installed(FULL)
    const { versions } = stage.tenant
    const [agent, gateway] = [versions.agent, versions.gateway]
    const next = '1.999.1.20300101-000000'
    versions.release(next)
    versions.agent = next
    versions.gateway = next
    await askAgain()
    const images = async () => {
      const [hosts, gateways] = await Promise.all([
        stage.client.get(DaemonSets, { namespace: NAMESPACE, name: 'cluster-oneagent' }),
        stage.client.get(StatefulSets, { namespace: NAMESPACE, name: 'cluster-activegate' }),
      ])
      return [hosts, gateways].map(({ spec }) => spec?.template.spec?.containers[0]?.image?.split(':').at(-1))
    }
    expect(await images()).toEqual(['1.999.1-raw', '1.999.1-raw'])
    const { status } = await stage.read()
    expect([status?.oneAgent?.version, status?.activeGate?.version, status?.codeModules?.version]).toEqual([
      next,
      next,
      next,
    ])
    await stage.untilPhase('Running')
    await stage.advance(6 * MINUTE)
    expect(Object.keys((await stage.read()).status?.oneAgent?.instances ?? {})).toHaveLength(3)
    versions.agent = agent
    versions.gateway = gateway
  })
})

describe('a DynaKube that is edited while it is rolled out', () => {
  // Logs need the entity of the cluster, which stays known once it was.
  const LOGS = specWith('hostMonitoring', ['log monitoring'])

  it('ends in the last desired state', async () => {
    const expected = await installed(LOGS)
    await stage.deleteIfThere()
    await stage.settle()
    await stage.create(FULL)
    // Pods exist by then, and are not ready yet.
    await stage.advance(100)
    await stage.replace(LOGS)
    await stage.advance(100)
    await stage.replace(FULL)
    await stage.advance(100)
    await stage.replace(LOGS)
    await stage.untilPhase('Running')
    await stage.settle()
    expect(differences(expected, await lookAt(stage)).map(formatDifference)).toEqual([])
  })
})

describe('what a DynaKube names', () => {
  const { customProperties: _, ...gateway } = FULL.activeGate ?? {}
  const cases: readonly { what: string; data: Readonly<Record<string, string>>; spec: Partial<DynaKubeSpec> }[] = [
    { what: 'tokens', data: {}, spec: { tokens: 'later' } },
    { what: 'a proxy', data: { proxy: 'http://proxy.example.com' }, spec: { proxy: { valueFrom: 'later' } } },
    {
      what: 'custom properties',
      data: { customProperties: '[a]\nb = c' },
      spec: { activeGate: { ...gateway, customProperties: { valueFrom: 'later' } } },
    },
  ]

  it.each(cases)('$what: its absence is reported until it exists', async ({ data, spec }) => {
    const value = (name: string) => stage.tenant.tokens.get(name)?.value ?? ''
    const tokens = { apiToken: value('apiToken'), dataIngestToken: value('dataIngestToken') }
    const named = { ...tokens, ...data }
    await stage.addSecret('later', named)
    const expected = await installed({ ...FULL, ...spec })
    await stage.delete()
    await stage.removeSecret('later')
    await stage.settle()
    await stage.create({ ...FULL, ...spec })
    await stage.untilPhase('Error')
    await stage.advance(MINUTE)
    await stage.addSecret('later', named)
    await expectFresh(expected)
    await stage.removeSecret('later')
  })

  it('certificates: their absence is reported until they exist', async () => {
    const spec = specWith('cloudNativeFullStack', ['trusted certificates', 'routing'])
    await stage.create(spec)
    await stage.untilPhase('Error')
    expect((await stage.condition('Tokens'))?.message).toContain('authorities')
    const metadata = { namespace: NAMESPACE, name: 'authorities' }
    await stage.client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { certs: 'PEM' } })
    await stage.untilPhase('Running')
    expect(await stage.condition('Tokens')).toMatchObject({ status: 'True' })
    await stage.client.delete(ConfigMaps, metadata)
  })
})
