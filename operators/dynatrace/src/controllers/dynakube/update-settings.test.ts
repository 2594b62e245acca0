/** Settings about updates: when images are pulled, and at what pace and in what number pods are replaced. */
import type { Container, DaemonSet, Deployment, StatefulSet } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../api/latest.ts'
import { asYaml, expectGolden } from '../rendering/testing/golden.ts'
import { activeGate } from './components/active-gate/active-gate.ts'
import { extensionController } from './components/extensions/controller.ts'
import { databaseExecutors } from './components/extensions/database-executors.ts'
import { kspm } from './components/kspm/kspm.ts'
import { logMonitoring } from './components/log-monitoring/log-monitoring.ts'
import { oneAgent } from './components/one-agent/one-agent.ts'
import { otelCollector } from './components/otel-collector/otel-collector.ts'
import type { AnyDynaKubeComponent } from './dynakube-component.ts'
import { type RenderParts, rendered, renderInput } from './testing/render-input.ts'

type Workload = DaemonSet | StatefulSet | Deployment

const WITH_WORKLOADS: readonly AnyDynaKubeComponent[] = [
  oneAgent,
  activeGate,
  extensionController,
  databaseExecutors,
  otelCollector,
  kspm,
  logMonitoring,
]

const image = (name: string) => ({ repository: `registry.example.com/${name}`, tag: '1.2.3' })

/** Every workload that is not the log agent, whose place the OneAgent takes. */
const everything = (pullPolicy?: 'Always' | 'IfNotPresent' | 'Never'): Partial<DynaKubeSpec> => {
  const imageRef = (name: string) => ({ imageRef: { ...image(name), ...(pullPolicy && { pullPolicy }) } })
  const imagePullPolicy = pullPolicy && { imagePullPolicy: pullPolicy }
  return {
    oneAgent: { cloudNativeFullStack: { ...imagePullPolicy } },
    activeGate: { capabilities: ['kubernetes-monitoring'], ...imagePullPolicy },
    extensions: { prometheus: {}, databases: [{ id: 'oracle' }, { id: 'mysql' }] },
    telemetryIngest: {},
    kspm: { mappedHostPaths: ['/'] },
    templates: {
      extensionExecutionController: imageRef('eec'),
      sqlExtensionExecutor: imageRef('sql'),
      otelCollector: imageRef('otelc'),
      kspmNodeConfigurationCollector: imageRef('ncc'),
    },
  }
}

const logs = (template: NonNullable<DynaKubeSpec['templates']>['logMonitoring'] = {}): Partial<DynaKubeSpec> => ({
  logMonitoring: {},
  templates: { logMonitoring: { imageRef: image('logs'), ...template } },
})

const render = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  WITH_WORKLOADS.flatMap((component) => rendered(component, renderInput(spec, parts)))

const WORKLOADS = ['DaemonSet', 'StatefulSet', 'Deployment']

function workloads(spec: Partial<DynaKubeSpec>, parts?: RenderParts): ReadonlyMap<string, Workload> {
  // The kind says what an object is.
  const objects = render(spec, parts).map(({ object }) => object as Workload)
  return new Map(objects.filter(({ kind }) => WORKLOADS.includes(kind)).map((each) => [each.metadata.name ?? '', each]))
}

function policies(spec: Partial<DynaKubeSpec>): Readonly<Record<string, readonly (string | undefined)[]>> {
  const containersOf = ({ spec: workload }: Workload): readonly Container[] => {
    const { initContainers = [], containers = [] } = workload?.template?.spec ?? {}
    return [...initContainers, ...containers]
  }
  return Object.fromEntries(
    [...workloads(spec)].map(([name, workload]) => [
      name,
      containersOf(workload).map(({ imagePullPolicy }) => imagePullPolicy),
    ]),
  )
}

describe('images', () => {
  it('are pulled as before when the user says nothing', () => {
    expect(policies(everything())).toEqual({
      'dk-oneagent': ['Always', 'Always'],
      'dk-activegate': ['Always', 'Always'],
      'dk-extension-controller': ['Always'],
      'dk-sql-ext-exec-oracle': ['IfNotPresent'],
      'dk-sql-ext-exec-mysql': ['IfNotPresent'],
      'dk-otel-collector': ['Always'],
      'dk-node-config-collector': ['Always'],
    })
    expect(policies(logs())).toEqual({ 'dk-logmonitoring': ['Always', 'Always'] })
  })

  it('of every workload are pulled as the user says', () => {
    const used = Object.values(policies(everything('Never'))).flat()
    expect(used).toHaveLength(9)
    expect(new Set(used)).toEqual(new Set(['Never']))
    const template = { imageRef: { ...image('logs'), pullPolicy: 'IfNotPresent' as const } }
    expect(policies(logs(template))).toEqual({ 'dk-logmonitoring': ['IfNotPresent', 'IfNotPresent'] })
  })
})

describe('rollingUpdate', () => {
  const rollingUpdate = { maxUnavailable: '10%', maxSurge: 0 }
  const flags = { 'oneagent-max-unavailable': '5' }
  const strategyOf = (name: string, spec: Partial<DynaKubeSpec>, parts?: RenderParts) => {
    // Only sets have an update strategy.
    return (workloads(spec, parts).get(name) as DaemonSet | StatefulSet | undefined)?.spec?.updateStrategy
  }

  it.each(['classicFullStack', 'cloudNativeFullStack', 'hostMonitoring'])(
    'of %s replaces the flag oneagent-max-unavailable',
    (mode) => {
      expect(strategyOf('dk-oneagent', { oneAgent: { [mode]: { rollingUpdate } } }, { flags })).toEqual({
        rollingUpdate,
      })
      expect(strategyOf('dk-oneagent', { oneAgent: { [mode]: {} } }, { flags })).toEqual({
        rollingUpdate: { maxUnavailable: 5 },
      })
    },
  )

  it('of log monitoring replaces the flag oneagent-max-unavailable', () => {
    expect(strategyOf('dk-logmonitoring', logs({ rollingUpdate }), { flags })).toEqual({ rollingUpdate })
    expect(strategyOf('dk-logmonitoring', logs(), { flags })).toEqual({ rollingUpdate: { maxUnavailable: 5 } })
  })

  it('of the ActiveGate is passed on, and nothing is said without it', () => {
    const gateway = (more: object) => ({ activeGate: { capabilities: ['routing'], ...more } })
    const pace = { maxUnavailable: 2, partition: 1 }
    expect(strategyOf('dk-activegate', gateway({ rollingUpdate: pace }))).toEqual({ rollingUpdate: pace })
    expect(strategyOf('dk-activegate', gateway({}))).toBeUndefined()
  })
})

describe('replicas', () => {
  const replicasOf = (name: string, spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
    (workloads(spec, parts).get(name) as StatefulSet | undefined)?.spec?.replicas
  const gateway = (replicas?: number) => ({
    activeGate: { capabilities: ['routing'], ...(replicas !== undefined && { replicas }) },
  })

  it('of the ActiveGate are left to an autoscaler unless the user sets them', () => {
    expect(replicasOf('dk-activegate', gateway())).toBeUndefined()
    expect(replicasOf('dk-activegate', gateway(3))).toBe(3)
  })

  it('of the OpenTelemetry collector stay as an autoscaler left them, and each collector knows how many there are', () => {
    const spec = { telemetryIngest: {}, templates: { otelCollector: { imageRef: image('otelc') } } }
    const scaled = { facts: { collectorReplicas: 4 } }
    expect(replicasOf('dk-otel-collector', spec)).toBe(1)
    expect(replicasOf('dk-otel-collector', spec, scaled)).toBe(4)
    // From a user who had set replicas: 0, and removed it.
    expect(replicasOf('dk-otel-collector', spec, { facts: { collectorReplicas: 0 } })).toBe(1)
    const env = workloads(spec, scaled).get('dk-otel-collector')?.spec?.template?.spec?.containers[0]?.env
    expect(env).toContainEqual({ name: 'SHARDS', value: '4' })
    const fixed = { ...spec, templates: { otelCollector: { imageRef: image('otelc'), replicas: 2 } } }
    expect(replicasOf('dk-otel-collector', fixed, scaled)).toBe(2)
  })
})

describe('the files of the extension controller', () => {
  it('are outside of its home when the legacy mounts are switched off', async () => {
    const spec = {
      activeGate: { capabilities: ['routing'] },
      extensions: { prometheus: {} },
      templates: {
        extensionExecutionController: {
          imageRef: image('eec'),
          customConfig: 'config',
          customExtensionCertificates: 'signers',
        },
      },
    }
    const parts = { flags: { 'use-eec-legacy-mounts': 'false' } }
    const objects = render(spec, parts).filter(({ object }) => object.metadata.name === 'dk-extension-controller')
    const sets = objects.filter(({ object }) => object.kind === 'StatefulSet')
    await expectGolden(
      asYaml(sets),
      new URL('golden/extensions/controller-without-legacy-mounts.yaml', import.meta.url),
    )
  })
})
