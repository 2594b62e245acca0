/** Settings of the tenant: the cluster and its entity, rules for metadata and for logs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { SCHEMA_IDS } from '../../src/tenant/simulator/state/settings-schemas.ts'
import { callsOf, operations, settled, WITHOUT_KEY } from './support/questions.ts'
import { type Stage, setStage } from './support/stage.ts'

const MINUTE = 60_000

let stage: Stage
beforeAll(async () => {
  stage = await setStage([
    'fresh',
    'known',
    'app',
    'later',
    'appless',
    'enriched',
    'logs',
    'logged',
    'posture',
    'old-posture',
  ])
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const monitoring: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['kubernetes-monitoring'] } }
const WITH_APP = { ...WITHOUT_KEY, 'feature.dynatrace.com/k8s-app-enabled': 'true' }
const NAMED = { 'feature.dynatrace.com/automatic-kubernetes-api-monitoring-cluster-name': 'shop' }
const { cluster: CLUSTER, kubernetesApp: APP, logStorage: LOGS, enrichment: ENRICHMENT, kspm: POSTURE } = SCHEMA_IDS

const settingsOf = (tenant: string, schema: string) =>
  stage.simulator
    .tenant(tenant)
    .settings.list()
    .filter(({ schemaId }) => schemaId === schema)
const creations = (tenant: string) => callsOf(stage, tenant).filter(({ operation }) => operation === 'settings-create')

describe('the cluster', () => {
  it('is registered without a scope, and found in the same reconcile', async () => {
    await stage.create('fresh', monitoring, WITHOUT_KEY)
    await settled(stage, 'fresh')
    const [setting] = settingsOf('fresh', CLUSTER)
    const { status } = await stage.read('fresh')
    expect(setting?.value).toMatchObject({ label: 'fresh', clusterId: status?.kubeSystemUUID })
    expect(creations('fresh').map(({ body }) => JSON.stringify(body))).toEqual([expect.not.stringContaining('"scope"')])
    expect(status).toMatchObject({ kubernetesClusterMEID: setting?.scope, kubernetesClusterName: 'fresh' })
    expect(await stage.condition('fresh', 'MonitoredEntity')).toMatchObject({ status: 'True', reason: 'StatusUpdated' })
    const found = operations(stage, 'fresh')
    expect(found.indexOf('settings-list')).toBeGreaterThan(found.indexOf('settings-create'))
  })

  it('that is known is not announced again', async () => {
    await stage.create('known', monitoring, WITHOUT_KEY)
    await settled(stage, 'known')
    stage.simulator.clearCalls()
    stage.advance(16 * MINUTE)
    await stage.reconcile('known')
    expect(operations(stage, 'known')).toContain('settings-list')
    expect(creations('known')).toEqual([])
    expect(settingsOf('known', CLUSTER)).toHaveLength(1)
  })

  it('gets the app where it is enabled, once, and the name that the user gives it', async () => {
    await stage.create('app', monitoring, { ...WITH_APP, ...NAMED })
    await settled(stage, 'app')
    expect(settingsOf('app', CLUSTER)[0]?.value).toMatchObject({ label: 'shop' })
    const [setting] = settingsOf('app', APP)
    expect(setting?.scope).toBe((await stage.read('app')).status?.kubernetesClusterMEID)
    stage.advance(16 * MINUTE)
    await stage.reconcile('app')
    expect(settingsOf('app', APP)).toHaveLength(1)
    stage.advance(16 * MINUTE)
    await stage.reconcile('app')
    expect(settingsOf('app', APP)).toHaveLength(1)
  })

  it('gets the app immediately when the flag is set later', async () => {
    await stage.create('later', monitoring, WITHOUT_KEY)
    await settled(stage, 'later')
    expect(settingsOf('later', APP)).toEqual([])
    await stage.edit('later', { metadata: { annotations: WITH_APP } })
    await stage.until(() => settingsOf('later', APP).length === 1)
    await stage.until(async () => {
      return (await stage.condition('later', 'KubernetesApp'))?.reason === 'Created'
    })
    stage.simulator.clearCalls()
    await stage.reconcile('later')
    expect(operations(stage, 'later')).toEqual([])
    await stage.edit('later', { metadata: { annotations: { 'feature.dynatrace.com/k8s-app-enabled': null } } })
    await stage.until(async () => (await stage.condition('later', 'KubernetesApp')) === undefined)
  })

  it('does without the app in a tenant that has none', async () => {
    stage.simulator.tenant('appless').settings.removeSchema(APP)
    await stage.create('appless', monitoring, WITH_APP)
    await settled(stage, 'appless')
    stage.advance(16 * MINUTE)
    expect((await stage.reconcile('appless')).outcome).toBe('requeue_after')
    expect((await stage.read('appless')).status?.phase).not.toBe('Error')
  })
})

describe('rules about metadata', () => {
  it('are those of the whole tenant as long as the cluster has no entity', async () => {
    const rules = [{ type: 'LABEL', source: 'team', target: 'dt.owner', enabled: true }]
    stage.simulator.tenant('enriched').settings.create({ schemaId: ENRICHMENT, scope: 'environment', value: { rules } })
    await stage.create('enriched', { metadataEnrichment: { enabled: true } })
    await settled(stage, 'enriched')
    expect((await stage.read('enriched')).status?.metadataEnrichment?.rules).toEqual([
      { type: 'LABEL', source: 'team', target: 'dt.owner' },
    ])
    const asked = callsOf(stage, 'enriched').filter(({ operation }) => operation === 'settings-effective-values')
    expect(asked.map(({ path }) => new URL(path, 'https://host').searchParams.get('scope'))).toEqual(['environment'])
    expect(await stage.condition('enriched', 'MetadataEnrichmentRules')).toMatchObject({ reason: 'StatusUpdated' })
    await stage.edit('enriched', { spec: { metadataEnrichment: null } })
    await stage.until(async () => (await stage.read('enriched')).status?.metadataEnrichment === undefined)
    expect(await stage.condition('enriched', 'MetadataEnrichmentRules')).toBeUndefined()
  })
})

describe('the rule about logs', () => {
  const matchers = [{ attribute: 'k8s.namespace.name', values: ['shop'] }]
  const logs: Partial<DynaKubeSpec> = {
    ...monitoring,
    logMonitoring: { ingestRuleMatchers: matchers },
    templates: { logMonitoring: { imageRef: { repository: 'registry.example.com/logs', tag: '1' } } },
  }

  it('is created when it does not exist', async () => {
    await stage.create('logs', logs, WITHOUT_KEY)
    await settled(stage, 'logs')
    expect(await stage.condition('logs', 'LogMonitoringSettings')).toMatchObject({ status: 'True', reason: 'Created' })
    const [setting] = settingsOf('logs', LOGS)
    expect(setting?.scope).toBe((await stage.read('logs')).status?.kubernetesClusterMEID)
    expect(setting?.value).toMatchObject({ matchers: [{ ...matchers[0], operator: 'MATCHES' }] })
  })

  it('is requested once per request threshold, and not changed', async () => {
    stage.advance(16 * MINUTE)
    await stage.reconcile('logs')
    expect(await stage.condition('logs', 'LogMonitoringSettings')).toMatchObject({ reason: 'AlreadyExist' })
    stage.simulator.clearCalls()
    await stage.reconcile('logs')
    expect(callsOf(stage, 'logs').filter(({ path }) => path.includes('logmonitoring'))).toEqual([])
    expect(settingsOf('logs', LOGS)).toHaveLength(1)
  })

  it('of the user is not changed', async () => {
    await stage.create('logged', monitoring, WITHOUT_KEY)
    await settled(stage, 'logged')
    const scope = (await stage.read('logged')).status?.kubernetesClusterMEID
    const value = { enabled: false, 'config-item-title': 'mine', 'send-to-storage': false, matchers: [] }
    const mine = stage.simulator.tenant('logged').settings.create({ schemaId: LOGS, scope, value })
    await stage.edit('logged', { spec: logs })
    await stage.until(async () => {
      return (await stage.condition('logged', 'LogMonitoringSettings'))?.reason === 'AlreadyExist'
    })
    expect(settingsOf('logged', LOGS)).toEqual([mine])
  })
})

describe('the setting of security posture management', () => {
  const posture: Partial<DynaKubeSpec> = {
    ...monitoring,
    kspm: { mappedHostPaths: ['/'] },
    templates: {
      kspmNodeConfigurationCollector: { imageRef: { repository: 'registry.example.com/collector', tag: '1' } },
    },
  }
  const reasonOf = async (name: string) => (await stage.condition(name, 'KSPMSettings'))?.reason

  it('is created for the entity of the cluster, once', async () => {
    await stage.create('posture', posture, WITHOUT_KEY)
    await settled(stage, 'posture')
    await stage.until(async () => (await reasonOf('posture')) === 'Exists')
    const [setting] = settingsOf('posture', POSTURE)
    expect(setting).toMatchObject({
      scope: (await stage.read('posture')).status?.kubernetesClusterMEID,
      value: { configurationDatasetPipelineEnabled: true },
    })
    stage.advance(16 * MINUTE)
    await stage.reconcile('posture')
    expect(settingsOf('posture', POSTURE)).toEqual([setting])
  })

  it('is not touched when security posture management is switched off, and no longer reported', async () => {
    const before = settingsOf('posture', POSTURE)
    await stage.edit('posture', { spec: { kspm: null } })
    await stage.until(async () => (await reasonOf('posture')) === undefined)
    expect(settingsOf('posture', POSTURE)).toEqual(before)
  })

  it('is not needed by a tenant that does not have it', async () => {
    stage.simulator.tenant('old-posture').settings.removeSchema(POSTURE)
    await stage.create('old-posture', posture, WITHOUT_KEY)
    await settled(stage, 'old-posture')
    await stage.until(async () => (await reasonOf('old-posture')) === 'Exists')
  })
})
