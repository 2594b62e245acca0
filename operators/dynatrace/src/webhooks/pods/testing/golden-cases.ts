/** Pods in which every two properties meet: workload, containers, security, features, mode and mounts. */
import type { Container, PodSpec } from '@reeve/kube'
import type { DynaKubeSpec } from '../../../api/latest.ts'
import type { InjectionFacts, InjectionInput, InjectionSettings } from '../injection-input.ts'
import { app, FACTS, inputOf, READY, readyDynaKube } from './build.ts'

/** The properties of a case. */
export interface GoldenCase {
  readonly workload: (typeof WORKLOADS)[number]
  readonly containers: keyof typeof CONTAINERS
  readonly security: keyof typeof SECURITY
  readonly features: keyof typeof FEATURES
  readonly mode: keyof typeof MODES
  readonly mounts: 'common' | 'split'
}

/** What pods belong to. */
export const WORKLOADS = ['deployment', 'statefulset', 'daemonset', 'job', 'cronjob', 'pod'] as const

const side: Container = {
  name: 'side',
  image: 'envoy@sha256:0123',
  env: [{ name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://mine' }],
}

const CONTAINERS = {
  one: { containers: [app()] },
  several: { containers: [app({ env: [{ name: 'LD_PRELOAD', value: '/lib/mine.so' }] }), side] },
  init: { containers: [app()], initContainers: [{ name: 'prepare', image: 'prepare:1' }] },
  'native sidecar': {
    containers: [app()],
    initContainers: [{ name: 'mesh', image: 'mesh:1', restartPolicy: 'Always' }],
  },
} satisfies Record<string, PodSpec>

interface Security {
  readonly pod?: PodSpec['securityContext']
  readonly container?: Container['securityContext']
  readonly settings?: Partial<InjectionSettings>
}

const SECURITY = {
  none: {},
  'user of the pod': { pod: { runAsUser: 2000, runAsGroup: 3000, fsGroup: 4000 } },
  root: { pod: { runAsUser: 0 } },
  'user of the container': { pod: { runAsUser: 2000 }, container: { runAsUser: 5000, runAsGroup: 6000 } },
  openshift: { settings: { isOpenShift: true } },
} satisfies Record<string, Security>

const SIGNALS = { signals: { traces: {}, metrics: {}, logs: {} } }

const FEATURES = {
  'code modules': { oneAgent: { cloudNativeFullStack: {} } },
  'code modules and metadata': { oneAgent: { applicationMonitoring: {} }, metadataEnrichment: { enabled: true } },
  metadata: { metadataEnrichment: { enabled: true } },
  exporters: { otlpExporterConfiguration: SIGNALS },
  everything: {
    oneAgent: { cloudNativeFullStack: {} },
    metadataEnrichment: { enabled: true },
    otlpExporterConfiguration: SIGNALS,
    activeGate: { capabilities: ['routing'] },
    networkZone: 'zone-1',
  },
} satisfies Record<string, Partial<DynaKubeSpec>>

const MODES = {
  csi: { flags: {}, hasCsiDriver: true },
  download: { flags: {}, hasCsiDriver: false },
  image: { flags: { 'node-image-pull': 'true' }, hasCsiDriver: false },
}

const FACTORS: { readonly [Name in keyof GoldenCase]: readonly GoldenCase[Name][] } = {
  workload: WORKLOADS,
  // The keys of a constant are its names.
  containers: Object.keys(CONTAINERS) as GoldenCase['containers'][],
  security: Object.keys(SECURITY) as GoldenCase['security'][],
  features: Object.keys(FEATURES) as GoldenCase['features'][],
  mode: Object.keys(MODES) as GoldenCase['mode'][],
  mounts: ['common', 'split'],
}

/** Few cases in which every two values of different properties meet; always the same. */
export function goldenCases(): readonly GoldenCase[] {
  const all = everyCase()
  const open = new Set(all.flatMap(pairsOf))
  const chosen: GoldenCase[] = []
  while (open.size > 0) {
    let best = { gain: 0, of: all[0] }
    for (const candidate of all) {
      const gain = pairsOf(candidate).filter((pair) => open.has(pair)).length
      if (gain > best.gain) best = { gain, of: candidate }
    }
    if (best.of === undefined) break
    chosen.push(best.of)
    for (const pair of pairsOf(best.of)) open.delete(pair)
  }
  return chosen
}

function everyCase(): readonly GoldenCase[] {
  let cases: readonly object[] = [{}]
  for (const [name, values] of Object.entries(FACTORS)) {
    cases = cases.flatMap((partial) => values.map((value) => ({ ...partial, [name]: value })))
  }
  // Every factor has been added.
  return cases as readonly GoldenCase[]
}

function pairsOf(of: GoldenCase): readonly string[] {
  const values = Object.entries(of).map(([name, value]) => `${name}=${value}`)
  return values.flatMap((one, index) => values.slice(index + 1).map((other) => `${one} ${other}`))
}

/** The name of a case. */
export const titleOf = (of: GoldenCase): string => Object.values(of).join(', ')

/** The pod, and what is looked up for it. */
export function caseInput(of: GoldenCase): { readonly input: InjectionInput; readonly facts: InjectionFacts } {
  const { flags, hasCsiDriver } = MODES[of.mode]
  const security: Security = SECURITY[of.security]
  const { containers, ...rest }: PodSpec = CONTAINERS[of.containers]
  const rules = [{ type: 'LABEL', source: 'team', target: 'dt.owner' }]
  const dynakube = readyDynaKube(FEATURES[of.features], {
    flags: { ...flags, 'label-version-detection': 'true' },
    status: { ...READY, metadataEnrichment: { rules } },
  })
  const secured = containers.map((container) => ({
    ...container,
    ...(security.container && { securityContext: security.container }),
  }))
  const input = inputOf(
    dynakube,
    {
      metadata: {
        name: 'shop-0',
        namespace: 'shop',
        annotations: { 'dynatrace.com/split-mounts': String(of.mounts === 'split') },
      },
      containers: secured,
      spec: { ...rest, ...(security.pod && { securityContext: security.pod }) },
    },
    {
      namespace: { labels: { team: 'sales' }, annotations: { 'metadata.dynatrace.com/stage': 'test' } },
      settings: { hasCsiDriver, ...security.settings },
    },
  )
  return {
    input,
    facts: { ...FACTS, workload: { kind: of.workload, name: of.workload === 'pod' ? 'shop-0' : 'shop' } },
  }
}
