/** What the cluster stores is what was reviewed: the golden files, with what only a cluster knows filled in. */
import { readFile } from 'node:fs/promises'
import { DaemonSets, Deployments, type Resource, Secrets, StatefulSets } from '@reeve/kube'
import { controllerReference } from '@reeve/runtime/owner-references'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { DynaKubeSpec, DynaKubeStatus } from '../../src/api/latest.ts'
import { dynakube } from '../../src/api/testing/build.ts'
import { KNOWN_STATUS } from '../../src/controllers/dynakube/testing/render-input.ts'
import { ANNOTATIONS } from '../../src/controllers/rendering/annotations.ts'
import { DynaKubes } from '../../src/index.ts'
import { type Workload, withoutDefaults } from './support/api-defaults.ts'
import { find, key } from './support/questions.ts'
import { type Stage, setStage, tokensOf } from './support/stage.ts'

const image = (name: string, tag = '1.2.3') => ({
  imageRef: { repository: `registry.example.com/${name}`, tag },
})
const extensionExecutionController = image('eec')

/** The simplest DynaKube of each workload, as the golden files have it. */
const CASES: readonly (readonly [string, Resource<Workload>, string, Partial<DynaKubeSpec>])[] = [
  ['one-agent/cloud-native', DaemonSets, 'oneagent', { oneAgent: { cloudNativeFullStack: {} } }],
  [
    'log-monitoring/plain',
    DaemonSets,
    'logmonitoring',
    { logMonitoring: {}, templates: { logMonitoring: image('logs') } },
  ],
  [
    'kspm/plain',
    DaemonSets,
    'node-config-collector',
    {
      kspm: { mappedHostPaths: ['/etc', '/boot'] },
      activeGate: { capabilities: ['kubernetes-monitoring'] },
      templates: { kspmNodeConfigurationCollector: image('ncc', '1.2') },
    },
  ],
  [
    'active-gate/routing-and-monitoring',
    StatefulSets,
    'activegate',
    { activeGate: { capabilities: ['routing', 'kubernetes-monitoring'] } },
  ],
  [
    'extensions/prometheus',
    StatefulSets,
    'extension-controller',
    { extensions: { prometheus: {} }, templates: { extensionExecutionController } },
  ],
  [
    'extensions/databases',
    Deployments,
    'sql-ext-exec-oracle',
    {
      extensions: { databases: [{ id: 'oracle' }] },
      templates: { extensionExecutionController, sqlExtensionExecutor: image('sql') },
    },
  ],
  [
    'otel-collector/telemetry-ingest',
    StatefulSets,
    'otel-collector',
    { telemetryIngest: {}, templates: { otelCollector: image('otelc') } },
  ],
]

const nameOf = (golden: string): string => golden.replace('/', '-')

let stage: Stage
beforeAll(async () => {
  stage = await setStage(CASES.map(([golden]) => nameOf(golden)))
})
afterAll(() => stage?.[Symbol.asyncDispose]())

it.each(CASES)('%s', async (golden, resource, suffix, spec) => {
  const name = nameOf(golden)
  const { data = {} } = await stage.client.get(Secrets, key(tokensOf(name)))
  await stage.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: key(name), data })
  // The tenant is trusted by other means than certificates, which would be mounted.
  await stage.create(name, { ...spec, tokens: '', trustedCAs: '', skipCertCheck: true })
  await stage.until(async () => (await stage.read(name)).status?.phase !== undefined)
  const live = await find(stage, resource, `${name}-${suffix}`)
  const owner = await stage.client.get(DynaKubes, key(name))
  const text = await readFile(new URL(`../../src/controllers/dynakube/golden/${golden}.yaml`, import.meta.url), 'utf8')
  const documents = parseAllDocuments(filledIn(text, name, owner.status)).map((document) => document.toJS())
  const reviewed = documents.find(
    ({ kind, metadata }) => kind === resource.kind && metadata.name === `${name}-${suffix}`,
  )
  expect(live?.metadata.annotations?.[ANNOTATIONS.templateHash]).toMatch(/^\d+$/)
  expect(live && comparable(live)).toEqual(comparable(reviewed))
  expect(live?.metadata.ownerReferences).toEqual([controllerReference(owner)])
})

/** Differ from cluster to cluster: only their presence is compared. */
const HASHES = [
  ANNOTATIONS.oneAgentTenantToken,
  ANNOTATIONS.activeGateTenantToken,
  ANNOTATIONS.activeGateConfiguration,
  ANNOTATIONS.extensionsSecret,
  ANNOTATIONS.kspmTokenSecret,
  ANNOTATIONS.telemetryConfig,
] as const

/** Come with being written: marks of the operator and of its engine, and those of Kubernetes. */
const MARKS = [
  ANNOTATIONS.templateHash,
  'reeve.dev/created-from',
  'deployment.kubernetes.io/revision',
  'deprecated.daemonset.template.generation',
] as const

function comparable(workload: Workload): unknown {
  return JSON.parse(JSON.stringify(withoutDefaults(workload)), (key, value) => {
    if (MARKS.some((mark) => mark === key)) return undefined
    if (key === 'annotations' && Object.keys(value).length === 0) return undefined
    return HASHES.some((hash) => hash === key) ? /^\d+$/.test(value) : value
  })
}

/** The golden file with the values of this tenant and cluster. */
function filledIn(golden: string, name: string, status: DynaKubeStatus | undefined): string {
  const texts = (given: DynaKubeStatus | undefined, apiUrl: string) => [
    given?.oneAgent?.imageID,
    given?.activeGate?.imageID,
    given?.oneAgent?.version,
    given?.activeGate?.version,
    apiUrl,
    given?.kubeSystemUUID,
    given?.oneAgent?.connectionInfoStatus?.tenantUUID ?? given?.activeGate?.connectionInfoStatus?.tenantUUID,
    ...(given?.activeGate?.serviceIPs ?? []),
  ]
  const answers = texts(status, stage.simulator.url(name))
  return texts(KNOWN_STATUS, dynakube().spec.apiUrl)
    .reduce<string>((text, known, index) => text.replaceAll(known ?? '', answers[index] ?? ''), golden)
    .replaceAll(/\bdk\b/g, name)
}
