/** All features of a DynaKube, as parts that can be combined. */
import { IgnoredNamespacePatterns } from '../../../src/api/ignored-namespaces.ts'
import type { DynaKube, DynaKubeSpec } from '../../../src/api/latest.ts'
import { DYNAKUBE_RULES } from '../../../src/api/validation/dynakube-rules.ts'
import { ALL_MODULES } from '../../../src/api/validation/modules.ts'
import { type Lookups, runRules } from '../../../src/api/validation/rule.ts'
import { NAMESPACE } from './closed-stage.ts'

/** A part of a spec; lists of several parts are joined. */
type Part = Readonly<Record<string, unknown>>

const image = (name: string) => ({ repository: `registry.example.com/${name}`, tag: '1.2.3' })
const gateway = (...capabilities: readonly string[]): Part => ({ activeGate: { capabilities } })

/** Images that have no default; they switch nothing on. */
const IMAGES: Part = {
  templates: {
    otelCollector: { imageRef: image('otelc') },
    extensionExecutionController: { imageRef: image('eec') },
    kspmNodeConfigurationCollector: { imageRef: image('ncc') },
    logMonitoring: { imageRef: image('logs') },
    sqlExtensionExecutor: { imageRef: image('sql') },
  },
}

/** Ways to monitor hosts and applications. */
export const MODES = {
  none: {},
  cloudNativeFullStack: { oneAgent: { cloudNativeFullStack: {} } },
  classicFullStack: { oneAgent: { classicFullStack: {} } },
  hostMonitoring: { oneAgent: { hostMonitoring: {} } },
  applicationMonitoring: { oneAgent: { applicationMonitoring: {} } },
} as const satisfies Readonly<Record<string, Part>>

/** A way to monitor. */
export type Mode = keyof typeof MODES

/** What can be switched on besides. */
export const FEATURES = {
  routing: gateway('routing'),
  'kubernetes-monitoring': gateway('kubernetes-monitoring'),
  'metrics-ingest': gateway('metrics-ingest'),
  'dynatrace-api': gateway('dynatrace-api'),
  'custom properties': { activeGate: { customProperties: { valueFrom: 'properties' } } },
  'a claim of gateways': {
    activeGate: {
      volumeClaimTemplate: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '3Gi' } } },
    },
  },
  "a gateway's certificate": { activeGate: { tlsSecretName: 'gateway-tls' } },
  prometheus: { extensions: { prometheus: {} } },
  databases: { extensions: { databases: [{ id: 'orders' }] } },
  "an extension controller's certificate": {
    templates: { extensionExecutionController: { tlsRefName: 'extensions-tls' } },
  },
  'telemetry ingest': { telemetryIngest: {} },
  'a certificate for telemetry': { telemetryIngest: { serviceName: 'telemetry', tlsRefName: 'telemetry-tls' } },
  'log monitoring': { logMonitoring: {} },
  kspm: { kspm: { mappedHostPaths: ['/etc'] } },
  'metadata enrichment': { metadataEnrichment: { enabled: true } },
  'OTLP exporters': { otlpExporterConfiguration: { signals: { traces: {} } } },
  proxy: { proxy: { value: 'http://user:word@proxy.example.com:3128' } },
  'trusted certificates': { trustedCAs: 'authorities' },
  'a pull secret': { customPullSecret: 'registry' },
  'a network zone': { networkZone: 'north' },
} as const satisfies Readonly<Record<string, Part>>

/** Something that can be switched on. */
export type Feature = keyof typeof FEATURES

/** The names of all features. */
export const FEATURE_NAMES = Object.keys(FEATURES) as readonly Feature[]

/** The names of all modes. */
export const MODE_NAMES = Object.keys(MODES) as [Mode, ...Mode[]]

/** Secrets of users that features name. */
export const USER_SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  properties: { customProperties: '[collector]\nMSGrouter = false' },
  'gateway-tls': { 'tls.crt': 'certificate', 'server.p12': 'pair', password: 'word' },
  'extensions-tls': { 'tls.crt': 'certificate', 'tls.key': 'key' },
  'telemetry-tls': { 'tls.crt': 'certificate', 'tls.key': 'key' },
  registry: { '.dockerconfigjson': '{"auths":{}}' },
}

/** A spec with a mode and features. */
export function specWith(mode: Mode, features: Iterable<Feature>): Partial<DynaKubeSpec> {
  const parts = [MODES[mode], ...[...features].map((name) => FEATURES[name])]
  return parts.reduce<Part>(joined, IMAGES)
}

/** Whether admission accepts a spec. */
export async function isAdmitted(spec: Partial<DynaKubeSpec>): Promise<boolean> {
  const dynakube: DynaKube = {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace: NAMESPACE, name: 'cluster' },
    spec: { apiUrl: 'https://abc12345.live.dynatrace.com/api', ...spec },
  }
  return (await runRules(DYNAKUBE_RULES, dynakube, () => LOOKUPS)).length === 0
}

const LOOKUPS: Lookups = {
  modules: ALL_MODULES,
  ignoredNamespaces: new IgnoredNamespacePatterns(),
  readSecret: async (name) => USER_SECRETS[name],
  hasIstio: async () => false,
  listDynaKubes: async () => [],
  listNamespaces: async () => [],
}

function joined(one: Part, other: Part): Part {
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...keys].map((key) => [key, joinedValue(one[key], other[key])]))
}

function joinedValue(one: unknown, other: unknown): unknown {
  if (one === undefined || other === undefined) return one ?? other
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other]
  if (typeof one === 'object' && typeof other === 'object') return joined(one as Part, other as Part)
  return other
}
