/** A plan against a cluster in which the operator runs: it shows what the operator would do, without doing it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { FULL_SPEC } from '../../src/api/testing/full-spec.ts'
import { FILES } from '../../src/plan/components-of.ts'
import { hasChanges, summaryOf } from '../../src/plan/plan-output.ts'
import { errorsOf, idOf, PlanStage, shown } from './support/plan-stage.ts'

let plans: PlanStage

beforeAll(async () => {
  plans = await PlanStage.set(['full', 'small'])
})
afterAll(() => plans?.[Symbol.asyncDispose]())

const FULL = { ...FULL_SPEC, metadataEnrichment: { enabled: true } } satisfies Partial<DynaKubeSpec>

describe('a plan for a DynaKube with everything', () => {
  it('creates what the operator then creates, field by field', async () => {
    const before = await plans.everything()
    const made = await plans.plan([plans.dynakube('full', FULL)])
    expect(errorsOf(made)).toEqual([])
    expect(await plans.everything()).toEqual(before)

    await plans.apply('full', FULL)
    const after = await plans.everything()
    const created = [...after.keys()].filter((id) => !before.has(id)).sort()
    const creations = made.changes.filter(({ action }) => action === 'create')
    expect(creations.map(idOf).sort()).toEqual(created)
    const real = await plans.blotted(after, 'full')
    for (const { manifest, ...change } of creations.filter(({ component }) => component !== FILES)) {
      expect([idOf(change), manifest]).toEqual([idOf(change), real(after.get(idOf(change)))])
    }
  })

  it('shows what would be created in the tenant', async () => {
    const { tenant } = await plans.plan([
      plans.dynakube('small', { activeGate: { capabilities: ['kubernetes-monitoring'] } }),
    ])
    const host = new URL(plans.stage.simulator.url('small')).host
    expect(tenant).toEqual([
      { action: 'create', what: 'ActiveGate token small', tenant: host },
      { action: 'create', what: 'setting builtin:cloud.kubernetes "small"', tenant: host },
    ])
  })

  it.each([true, false])('has no changes once the operator is done (dry run: %s)', async (withDryRun) => {
    const made = await plans.plan([plans.dynakube('full', FULL)], { withDryRun })
    expect(made.changes).toEqual([])
    expect(made.tenant).toEqual([])
    expect(hasChanges(made)).toBe(false)
    expect(summaryOf(made).unchanged).toBeGreaterThan(20)
  })

  it('changes only what an edit is about', async () => {
    const edited = { ...FULL, oneAgent: { cloudNativeFullStack: { env: [{ name: 'COLOUR', value: 'blue' }] } } }
    const { changes } = await plans.plan([plans.dynakube('full', edited)])
    expect(changes.map(({ action, component, kind }) => [action, component, kind])).toEqual([
      ['change', FILES, 'DynaKube'],
      ['change', 'OneAgent', 'DaemonSet'],
    ])
    expect(changes.flatMap(({ fields }) => fields)).toEqual([
      { path: 'spec.oneAgent.cloudNativeFullStack.env', after: [{ name: 'COLOUR', value: 'blue' }] },
      {
        path: 'spec.template.spec.containers[name=dynatrace-oneagent].env[name=COLOUR]',
        after: { name: 'COLOUR', value: 'blue' },
      },
    ])
  })

  it('removes what the operator then removes', async () => {
    const before = await plans.everything()
    const less = { activeGate: FULL.activeGate, metadataEnrichment: { enabled: false } }
    const made = await plans.plan([plans.dynakube('full', less)])
    expect(errorsOf(made)).toEqual([])
    expect(await plans.everything()).toEqual(before)

    const off = Object.keys(FULL).map((field) => [field, null])
    await plans.stage.edit('full', { spec: { ...Object.fromEntries(off), ...less } })
    await plans.settled('full')
    const after = await plans.everything()
    const ids = (action: string) => made.changes.filter((change) => change.action === action).map(idOf)
    expect(ids('remove').sort()).toEqual([...before.keys()].filter((id) => !after.has(id)).sort())
    expect(ids('remove')).toContain('Secret/shop/dynatrace-bootstrapper-config')
    expect(ids('change')).toContain('Namespace//shop')
    for (const id of ids('change').filter((id) => !id.startsWith('DynaKube/'))) {
      expect([id, shown(after.get(id))]).not.toEqual([id, shown(before.get(id))])
    }
  })

  it('shows why the cluster would refuse an object, and is incomplete then', async () => {
    const isDryRun = ({ path }: { readonly path: string }) => path.includes('dryRun=All')
    const message = 'admission webhook "policy.example.com" denied the request: no host paths'
    const stop = plans.stage.cluster.faults.inject(
      { verb: 'create', resource: 'daemonsets.apps', where: isDryRun },
      { kind: 'status', code: 403, reason: 'Forbidden', message },
    )
    const made = await plans.plan([plans.dynakube('small', { oneAgent: { hostMonitoring: {} } })])
    stop()
    expect(errorsOf(made)).toEqual([
      { severity: 'error', object: 'DaemonSet dynatrace/small-oneagent', message: expect.stringContaining(message) },
    ])
    expect(made.changes.map(idOf)).toContain('DaemonSet/dynatrace/small-oneagent')
  })
})
