import type { DaemonSet, Deployment, StatefulSet } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../api/latest.ts'
import { renderDynaKube } from './testing/render-all.ts'
import { type RenderParts, renderInput } from './testing/render-input.ts'

type Workload = DaemonSet | Deployment | StatefulSet

const NAME = 'app.kubernetes.io/name'
const COMPONENT = 'app.kubernetes.io/component'
const VERSION = 'app.kubernetes.io/version'

const labels = { [NAME]: 'mine', team: 'a' }
const image = { imageRef: { repository: 'registry.example.com/x', tag: '1' } }

/** Everything that runs pods, with labels of the user everywhere. */
const EVERYTHING: Partial<DynaKubeSpec> = {
  customPullSecret: 'mine',
  oneAgent: { classicFullStack: { labels } },
  activeGate: { capabilities: ['routing', 'kubernetes-monitoring'], labels },
  extensions: { prometheus: {}, databases: [{ id: 'db', labels }] },
  telemetryIngest: {},
  kspm: { mappedHostPaths: ['/etc'] },
  templates: {
    otelCollector: { ...image, labels },
    extensionExecutionController: { ...image, labels },
    sqlExtensionExecutor: image,
    kspmNodeConfigurationCollector: { ...image, labels },
    logMonitoring: { ...image, labels },
  },
}
/** With a separate log agent. */
const LOGS: Partial<DynaKubeSpec> = {
  customPullSecret: 'mine',
  logMonitoring: {},
  templates: { logMonitoring: { ...image, labels } },
}

function workloads(spec: Partial<DynaKubeSpec>, parts: RenderParts = {}): ReadonlyMap<string, Workload> {
  const rendered = renderDynaKube(renderInput(spec, parts))
  const failures = rendered.flatMap(({ failure }) => (failure === undefined ? [] : [failure]))
  if (failures.length > 0) throw new AggregateError(failures, 'not everything could be rendered')
  const objects = rendered.flatMap(({ objects: own }) => own.map(({ object }) => object))
  const running = objects.filter(({ kind }) => ['DaemonSet', 'Deployment', 'StatefulSet'].includes(kind ?? ''))
  // Chosen by their kind.
  return new Map(running.map((object) => [object.metadata.name ?? '', object as Workload]))
}

const ALL = new Map([...workloads(EVERYTHING), ...workloads(LOGS)])
const NAMES = [
  'dk-activegate',
  'dk-extension-controller',
  'dk-logmonitoring',
  'dk-node-config-collector',
  'dk-oneagent',
  'dk-otel-collector',
  'dk-sql-ext-exec-db',
]
/** Their labels have their own version. */
const APPS = ['dk-oneagent', 'dk-activegate', 'dk-extension-controller', 'dk-otel-collector', 'dk-sql-ext-exec-db']

describe('workloads', () => {
  it('are all here', () => {
    expect([...ALL.keys()].sort()).toEqual(NAMES)
  })

  it.each(NAMES)('%s selects by three labels that never change', (name) => {
    const selector = ALL.get(name)?.spec?.selector?.matchLabels ?? {}
    expect(Object.keys(selector)).toHaveLength(3)
    expect(selector).not.toHaveProperty(VERSION)
    if (APPS.includes(name)) expect(selector).not.toHaveProperty(COMPONENT)
    const all = ALL.get(name)?.spec?.template?.metadata?.labels ?? {}
    if (name !== 'dk-oneagent') expect(all).toMatchObject(selector)
    expect(all).toHaveProperty(VERSION)
  })

  it('restart for another version of the operator only where they contain it, and keep their selectors', () => {
    const other = { operator: { version: '1.9.0', image: 'registry.example.com/dynatrace-operator:1.9.0' } }
    const after = new Map([...workloads(EVERYTHING, other), ...workloads(LOGS, other)])
    const templateOf = (all: ReadonlyMap<string, Workload>, name: string) =>
      JSON.stringify(all.get(name)?.spec?.template)
    const restarted = NAMES.filter((name) => templateOf(ALL, name) !== templateOf(after, name))
    expect(restarted).toEqual(['dk-logmonitoring', 'dk-node-config-collector', 'dk-oneagent'])
    for (const name of NAMES) expect(after.get(name)?.spec?.selector).toEqual(ALL.get(name)?.spec?.selector)
    const sameImage = { operator: { version: '1.9.0' } }
    expect(templateOf(workloads(EVERYTHING, sameImage), 'dk-oneagent')).toBe(templateOf(ALL, 'dk-oneagent'))
  })

  it('name the mode without an underscore', () => {
    expect(ALL.get('dk-oneagent')?.metadata.labels?.[COMPONENT]).toBe('classicfullstack')
  })

  it.each(NAMES.filter((name) => name !== 'dk-oneagent'))(
    '%s has labels of the user, but not in place of its own',
    (name) => {
      const own = ALL.get(name)?.spec?.selector?.matchLabels?.[NAME]
      const carried = ALL.get(name)?.spec?.template?.metadata?.labels
      expect(carried).toMatchObject({ team: 'a', [NAME]: own })
      expect(own).not.toBe('mine')
    },
  )

  it.each(NAMES)('%s pulls with the generated secret, then with that of the user', (name) => {
    expect(ALL.get(name)?.spec?.template?.spec?.imagePullSecrets).toEqual([
      { name: 'dk-pull-secret' },
      { name: 'mine' },
    ])
  })
})
