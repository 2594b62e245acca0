/** When a DynaKube is reconciled again, what is reported about its CRD, and which versions are chosen. */
import { CustomResourceDefinitions, Events } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { DynaKubeCrd } from '../../src/index.ts'
import { operations, running, settled, WITHOUT_KEY } from './support/questions.ts'
import { NAMESPACE, type Stage, setStage } from './support/stage.ts'

const MINUTE = 60_000
const VERSION_LABEL = 'app.kubernetes.io/version'

let stage: Stage
beforeAll(async () => {
  stage = await setStage(
    ['calm', 'eventful', 'failing', 'hasty', 'classic', 'frozen', 'newest', 'checked', 'unchecked'],
    {
      release: { version: 'of-this-release' },
    },
  )
  await label('of-this-release')
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const label = (version: string | null) =>
  stage.client.patch(
    CustomResourceDefinitions,
    { name: DynaKubeCrd.name },
    { type: 'merge', patch: { metadata: { labels: { [VERSION_LABEL]: version } } } },
  )
const hosts: Partial<DynaKubeSpec> = { oneAgent: { hostMonitoring: {} } }
const gateway: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['routing'] } }

describe('a DynaKube', () => {
  it('is reconciled after five minutes when something changed, else after thirty', async () => {
    await stage.create('calm', hosts)
    await running(stage, 'calm')
    const reconciles = () => stage.records.filter(({ key: { name } }) => name === 'calm')
    const delayMs = ({ nextRunMs = 0, startedMs, durationMs }: (typeof stage.records)[number]) =>
      nextRunMs - startedMs - durationMs
    const [first] = reconciles()
    expect(first?.writes).toContainEqual(expect.objectContaining({ kind: 'DynaKube', subresource: 'status' }))
    expect(first && delayMs(first)).toBe(5 * MINUTE)
    await stage.until(() => reconciles().at(-1)?.writes.length === 0)
    const still = await stage.reconcile('calm')
    expect(still.writes).toEqual([])
    expect(delayMs(still)).toBe(30 * MINUTE)
  })

  it('has events about what changed, from the controller and not repeated', async () => {
    await stage.create('eventful', hosts)
    await running(stage, 'eventful')
    const eventsOf = async (name: string) => {
      const { items } = await stage.client.list(Events, { namespace: NAMESPACE })
      return items.filter(({ involvedObject }) => involvedObject.kind === 'DynaKube' && involvedObject.name === name)
    }
    await stage.until(async () => (await eventsOf('eventful')).some(({ reason }) => reason === 'Running'))
    const [first] = await eventsOf('eventful')
    expect(first).toMatchObject({
      type: 'Normal',
      message: expect.stringContaining('created '),
      source: { component: 'dynakube-controller' },
    })
    await stage.until(async () => (await stage.reconcile('eventful')).writes.length === 0)
    const before = await eventsOf('eventful')
    await stage.reconcile('eventful')
    expect(await eventsOf('eventful')).toEqual(before)
  })

  it('has one warning about a repeated failure, from the same source', async () => {
    stage.simulator.tenant('failing').tokens.setScopes('apiToken', [])
    await stage.create('failing', hosts)
    const failures = () => stage.records.filter(({ key, outcome }) => key.name === 'failing' && outcome === 'error')
    await stage.until(() => failures().length > 1)
    const { items } = await stage.client.list(Events, { namespace: NAMESPACE })
    const warnings = items.filter(
      ({ reason, involvedObject }) => reason === 'ReconcileFailed' && involvedObject.name === 'failing',
    )
    expect(warnings).toMatchObject([
      {
        type: 'Warning',
        count: 1,
        message: expect.stringContaining('lacks'),
        source: { component: 'dynakube-controller' },
      },
    ])
  })

  it('that is edited during a reconcile does not lose what the tenant returned', async () => {
    const operation = 'agent-connection-info'
    const fault = stage.simulator.faults.add({ kind: 'slow', delayMs: 500, tenant: 'hasty', operation })
    await stage.create('hasty', hosts)
    await stage.until(() => operations(stage, 'hasty').includes('token-lookup'))
    await stage.edit('hasty', { metadata: { annotations: { edited: 'meanwhile' } } })
    await settled(stage, 'hasty')
    fault.remove()
    await stage.reconcile('hasty')
    expect(operations(stage, 'hasty').filter((one) => one === operation)).toHaveLength(1)
    const outcomes = stage.records.filter(({ key: { name } }) => name === 'hasty').map(({ outcome }) => outcome)
    expect(outcomes).not.toContain('conflict')
  })
})

describe('versions', () => {
  it('of classic agents and their gateways come from the tenant, regardless of the flag', async () => {
    const flags = { ...WITHOUT_KEY, 'feature.dynatrace.com/public-registry': 'true' }
    await stage.create('classic', { oneAgent: { classicFullStack: {} }, ...gateway }, flags)
    await settled(stage, 'classic')
    const { oneAgent, activeGate } = (await stage.read('classic')).status ?? {}
    expect(oneAgent).toMatchObject({ source: 'tenant-registry', imageID: expect.stringContaining('/linux/oneagent:') })
    expect(activeGate).toMatchObject({
      source: 'tenant-registry',
      imageID: expect.stringContaining('/linux/activegate:'),
    })
    expect(operations(stage, 'classic')).not.toContain('latest-image')
  })

  it('that are not updated are not requested again', async () => {
    await stage.create('frozen', gateway, { ...WITHOUT_KEY, 'feature.dynatrace.com/activegate-updates': 'false' })
    await settled(stage, 'frozen')
    const version = async () => (await stage.read('frozen')).status?.activeGate?.version
    const before = await version()
    stage.simulator.tenant('frozen').versions.gateway = '1.999.0.20300101-000000'
    stage.simulator.clearCalls()
    stage.advance(16 * MINUTE)
    await stage.reconcile('frozen')
    expect(operations(stage, 'frozen')).toContain('gateway-connection-info')
    expect(operations(stage, 'frozen')).not.toContain('gateway-latest-version')
    expect(await version()).toBe(before)
  })

  it('that went down stay where they were', async () => {
    const { versions } = stage.simulator.tenant('newest')
    versions.release('999.999.999.20990101-000000')
    await stage.create('newest', hosts)
    await settled(stage, 'newest')
    versions.agent = '1.283.132.20240205-143805'
    stage.advance(16 * MINUTE)
    const record = await stage.reconcile('newest')
    expect(record.outcome).toBe('requeue_after')
    expect((await stage.read('newest')).status?.oneAgent).toMatchObject({
      version: '999.999.999.20990101-000000',
      imageID: expect.stringMatching(/:999\.999\.999-raw$/),
    })
    expect(await stage.condition('newest', 'OneAgentVersion')).toMatchObject({ status: 'False', reason: 'Downgrade' })
  })
})

describe('the CRD', () => {
  const warnings = async () => {
    const { items } = await stage.client.list(Events, { namespace: NAMESPACE })
    return items.filter(({ reason }) => reason === 'CRDVersionMismatch')
  }

  it('of another release is warned about, and the reconcile continues', async () => {
    await label('of-another-release')
    // What was read is cached.
    stage.advance(6 * MINUTE)
    await stage.create('checked', hosts)
    await settled(stage, 'checked')
    await stage.until(async () => (await warnings()).length > 0)
    const [event] = await warnings()
    expect(event).toMatchObject({ type: 'Warning' })
  })

  it('without a release stops the work', async () => {
    await label(null)
    stage.advance(6 * MINUTE)
    stage.simulator.clearCalls()
    await stage.create('unchecked', hosts)
    const failed = () => stage.records.find(({ key: { name }, error }) => name === 'unchecked' && error !== undefined)
    await stage.until(() => failed() !== undefined)
    expect(failed()?.error).toContain(`has no label ${VERSION_LABEL}`)
    expect(operations(stage, 'unchecked')).toEqual([])
    await label('of-this-release')
    await stage.reconcile('unchecked')
    await settled(stage, 'unchecked')
  })
})
