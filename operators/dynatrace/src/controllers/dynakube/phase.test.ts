import type { DaemonSet, Deployment, KubeObject, StatefulSet, Stored } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import type { DynaKube, DynaKubeSpec } from '../../api/latest.ts'
import { dynakube } from '../../api/testing/build.ts'
import { COMPONENTS } from './components.ts'
import type { DynaKubeDependencies } from './dependencies.ts'

/** Only the fields that the phase uses. */
type Workload = Partial<Pick<DaemonSet & Deployment & StatefulSet, 'spec' | 'status'>> & {
  readonly generation?: number
  readonly deletionTimestamp?: string
}

function phase(spec: Partial<DynaKubeSpec>, workloads: Readonly<Record<string, Workload>>) {
  const get = (_resource: unknown, { name }: { readonly name: string }) => {
    const workload = workloads[name]
    if (workload === undefined) return undefined
    const { generation = 1, deletionTimestamp, ...rest } = workload
    return { metadata: { name, generation, deletionTimestamp }, ...rest } as unknown as Stored<KubeObject>
  }
  const cache = { get } as unknown as CacheReader
  const wanted = dynakube(spec)
  const context = { primary: wanted as Stored<DynaKube>, cache, dependencies: {} as DynaKubeDependencies }
  const enabled = COMPONENTS.filter((component) => component.isEnabled?.(context.primary, context.dependencies) ?? true)
  return enabled.every((component) => component.isReady?.(context) ?? true) ? 'Running' : 'Deploying'
}

const gateway: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['routing'] } }
const agent: Partial<DynaKubeSpec> = { oneAgent: { hostMonitoring: {} } }
const set = (replicas: number, readyReplicas: number) => ({ spec: { replicas }, status: { readyReplicas } }) as Workload
const daemons = (currentNumberScheduled: number, numberReady: number) =>
  ({ spec: {}, status: { currentNumberScheduled, numberReady } }) as Workload

describe('the phase', () => {
  it('follows the gateways', () => {
    expect(phase(gateway, {})).toBe('Deploying')
    expect(phase(gateway, { 'dk-activegate': set(1, 0) })).toBe('Deploying')
    expect(phase(gateway, { 'dk-activegate': set(1, 1) })).toBe('Running')
    expect(phase({ ...gateway, ...agent }, { 'dk-activegate': set(1, 0), 'dk-oneagent': daemons(3, 3) })).toBe(
      'Deploying',
    )
  })

  it('follows the agents', () => {
    expect(phase({ ...gateway, ...agent }, { 'dk-activegate': set(1, 1) })).toBe('Deploying')
    expect(phase(agent, { 'dk-oneagent': daemons(3, 2) })).toBe('Deploying')
    expect(phase(agent, { 'dk-oneagent': daemons(3, 3) })).toBe('Running')
  })

  it('follows separate log agents, and collectors of node configurations', () => {
    const logs: Partial<DynaKubeSpec> = { logMonitoring: {} }
    expect(phase(logs, {})).toBe('Deploying')
    expect(phase(logs, { 'dk-logmonitoring': daemons(3, 2) })).toBe('Deploying')
    expect(phase(logs, { 'dk-logmonitoring': daemons(3, 3) })).toBe('Running')
    expect(phase({ ...logs, ...agent }, { 'dk-oneagent': daemons(3, 3) })).toBe('Running')
    const posture: Partial<DynaKubeSpec> = { ...gateway, kspm: {} }
    const gateways = { 'dk-activegate': set(1, 1) }
    expect(phase(posture, gateways)).toBe('Deploying')
    expect(phase(posture, { ...gateways, 'dk-node-config-collector': daemons(3, 2) })).toBe('Deploying')
    expect(phase(posture, { ...gateways, 'dk-node-config-collector': daemons(3, 3) })).toBe('Running')
  })

  it('follows executors of databases once their change was seen', () => {
    const spec = { ...gateway, extensions: { databases: [{ id: 'oracle' }] } }
    const gateways = { 'dk-activegate': set(1, 1) }
    const executor = (observedGeneration: number) =>
      ({ generation: 2, spec: { replicas: 1 }, status: { observedGeneration, readyReplicas: 1 } }) as Workload
    expect(phase(spec, gateways)).toBe('Deploying')
    expect(phase(spec, { ...gateways, 'dk-sql-ext-exec-oracle': executor(1) })).toBe('Deploying')
    expect(phase(spec, { ...gateways, 'dk-sql-ext-exec-oracle': executor(2) })).toBe('Running')
  })

  it('does not wait for executors of databases that are no longer declared', () => {
    const leaving = { generation: 2, spec: { replicas: 1 }, status: { observedGeneration: 1 } } as Workload
    const live = { 'dk-activegate': set(1, 1), 'dk-sql-ext-exec-oracle': leaving }
    expect(phase(gateway, live)).toBe('Running')
  })

  it('does not wait for an executor that is being deleted', () => {
    const spec = { ...gateway, extensions: { databases: [{ id: 'oracle' }] } }
    const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', spec: { replicas: 1 }, status: {} } as Workload
    expect(phase(spec, { 'dk-activegate': set(1, 1), 'dk-sql-ext-exec-oracle': leaving })).toBe('Running')
  })

  it('does not wait for collectors of only telemetry', () => {
    expect(phase({ telemetryIngest: {} }, {})).toBe('Running')
    expect(phase({ extensions: { prometheus: {} } }, { 'dk-activegate': set(1, 1) })).toBe('Deploying')
  })

  it('is Running when there is nothing to run', () => {
    expect(phase({}, {})).toBe('Running')
  })
})
