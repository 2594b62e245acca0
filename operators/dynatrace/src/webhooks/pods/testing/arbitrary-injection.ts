/** Random pods, namespaces and DynaKubes, with a liking for what gets in the way of injection. */
import type { Container, EnvVar, Volume, VolumeMount } from '@reeve/kube'
import fc, { type Arbitrary } from 'fast-check'
import type { DynaKubeSpec, DynaKubeStatus } from '../../../api/latest.ts'
import type { InjectionFacts, InjectionInput, SecretCheck } from '../injection-input.ts'
import { FACTS, inputOf, READY, readyDynaKube } from './build.ts'

/** A subset of these, each at most once. */
const some = <T>(values: readonly T[]): Arbitrary<T[]> => fc.subarray([...values])

/** A map with a few of these keys: with many, hardly a pod would be injected. */
const someOf = (values: Readonly<Record<string, readonly string[]>>): Arbitrary<Record<string, string>> =>
  fc
    .tuple(
      ...Object.entries(values).map(([key, texts]) =>
        fc.oneof(
          { weight: 4, arbitrary: fc.constant(undefined) },
          { weight: 1, arbitrary: fc.tuple(fc.constant(key), fc.constantFrom(...texts)) },
        ),
      ),
    )
    .map((entries) => Object.fromEntries(entries.filter((entry) => entry !== undefined)))

const INPUT = [
  { secret: { name: 'dynatrace-bootstrapper-config', optional: false } },
  { secret: { name: 'dynatrace-bootstrapper-certs', optional: true } },
]
/** Like those that injection adds. */
const VOLUMES: readonly Volume[] = [
  { name: 'data', emptyDir: {} },
  { name: 'oneagent-bin', emptyDir: {} },
  { name: 'dynatrace-config', emptyDir: {} },
  { name: 'dynatrace-input', projected: { sources: INPUT } },
  { name: 'otlp-dynatrace-certs', secret: { secretName: 'dynatrace-otlp-exporter-certs' } },
]
/** With their names only. */
const FOREIGN_VOLUMES: readonly Volume[] = [
  { name: 'data', emptyDir: {} },
  { name: 'oneagent-bin', configMap: { name: 'mine' } },
  { name: 'dynatrace-config', configMap: { name: 'mine' } },
  { name: 'dynatrace-input', emptyDir: {} },
  { name: 'otlp-dynatrace-certs', emptyDir: {} },
]

const PATHS = [
  '/data',
  '/opt/dynatrace/oneagent-paas',
  '/etc/ld.so.preload',
  '/var/lib/dynatrace',
  '/var/lib/dynatrace/oneagent',
  '/var/lib/dynatrace/enrichment/endpoint',
  '/etc/dynatrace/ssl',
]

const VARIABLES = [
  'LD_PRELOAD',
  'NO_PROXY',
  'no_proxy',
  'DT_STORAGE',
  'DT_API_TOKEN',
  'DT_NETWORK_ZONE',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_LOGS_PROTOCOL',
  'K8S_PODNAME',
  'MINE',
]

const variable: Arbitrary<EnvVar> = fc
  .tuple(
    fc.constantFrom(...VARIABLES),
    fc.constantFrom(
      '',
      'a',
      'a b',
      'k8s.pod.name=mine,broken',
      '/opt/dynatrace/oneagent-paas/x.so',
      'dk-activegate.dynatrace',
    ),
    fc.integer({ min: 0, max: 4 }),
  )
  .map(([name, value, kind]) =>
    kind === 0 ? { name, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } } : { name, value },
  )

const ids = fc.record(
  { runAsUser: fc.constantFrom(0, 1000), runAsGroup: fc.constantFrom(0, 2000) },
  { requiredKeys: [] },
)

const mounts = (volumes: readonly Volume[]): Arbitrary<VolumeMount[]> =>
  volumes.length === 0
    ? fc.constant([])
    : fc
        .tuple(some(PATHS), fc.constantFrom(...volumes))
        .map(([paths, { name }]) => paths.slice(0, 2).map((mountPath) => ({ name, mountPath })))

const container = (name: string, volumes: readonly Volume[]): Arbitrary<Container> =>
  fc
    .record({
      image: fc.constantFrom('php:fpm', 'registry.example.com/a/b:1@sha256:x', 'a', 'localhost:5000/x/y'),
      env: fc.option(fc.array(variable, { maxLength: 4 }), { nil: undefined }),
      volumeMounts: fc.option(mounts(volumes), { nil: undefined }),
      securityContext: fc.option(ids, { nil: undefined }),
    })
    .map(({ image, env, volumeMounts, securityContext }) => ({
      name,
      image,
      ...(env && { env }),
      ...(volumeMounts && { volumeMounts }),
      ...(securityContext && { securityContext }),
    }))

const annotations = someOf({
  'dynatrace.com/inject': ['true', 'false', ''],
  'dynatrace.com/split-mounts': ['true', 'TRUE', 'no'],
  'oneagent.dynatrace.com/inject': ['true', 'false', 'maybe'],
  'oneagent.dynatrace.com/install-path': ['/opt/other', '/var/lib/dynatrace', '/etc/dynatrace/ssl', 'relative', ''],
  'oneagent.dynatrace.com/technologies': ['java,php', ''],
  'oneagent.dynatrace.com/flavor': ['musl'],
  'oneagent.dynatrace.com/volume-type': ['csi', 'ephemeral', 'x'],
  'oneagent.dynatrace.com/failure-policy': ['fail', 'silent'],
  'metadata-enrichment.dynatrace.com/inject': ['true', 'false'],
  'otlp-exporter-configuration.dynatrace.com/inject': ['true', 'false'],
  'otlp-exporter-configuration.dynatrace.com/injected': ['true', 'false'],
  'dynakube.dynatrace.com/reason': ['NoBootstrapperConfig'],
  'container.inject.dynatrace.com/app': ['false', 'true', 'False'],
  'container.inject.dynatrace.com/side': ['false'],
  'volume.dynatrace.com/oneagent-bin': ['1Gi', '-1', 'x', '1e3', '', '1.5Gi', '0x1', '1_000'],
  'volume.dynatrace.com/dynatrace-config': ['50Mi', 'none', '1e999', '.', '5Ki5'],
  'metadata.dynatrace.com/k8s.pod.name': ['mine', ''],
  'metadata.dynatrace.com/k8s.workload.kind': ['robot'],
  'metadata.dynatrace.com': ['{}', 'mine'],
})

const pod = fc
  .oneof({ weight: 5, arbitrary: some(VOLUMES) }, { weight: 1, arbitrary: some(FOREIGN_VOLUMES) })
  .chain((volumes) =>
    fc.record({
      volumes: fc.constant(volumes),
      containers: fc
        .constantFrom(['app'], ['app', 'side'], ['side', 'app', 'web'])
        .chain((names) => fc.tuple(...names.map((name) => container(name, volumes)))),
      initContainers: fc
        .constantFrom([], ['prepare'], ['dynatrace-operator'])
        .chain((names) => fc.tuple(...names.map((name) => container(name, volumes)))),
      securityContext: ids,
    }),
  )
  .chain((spec) => fc.record({ annotations, spec: fc.constant(spec) }))

const SELECTORS = [{ matchLabels: { team: 'a' } }, { matchExpressions: [{ key: 'team', operator: 'Exists' }] }]
const namespaceSelector = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constantFrom(...SELECTORS) },
)

const spec: Arbitrary<Partial<DynaKubeSpec>> = fc.record(
  {
    oneAgent: fc.oneof(
      fc.record({ cloudNativeFullStack: fc.record({ namespaceSelector }) }),
      fc.record({ applicationMonitoring: fc.record({ namespaceSelector }) }),
      fc.constant({ classicFullStack: {} }),
    ),
    metadataEnrichment: fc.record({ enabled: fc.boolean(), namespaceSelector }),
    otlpExporterConfiguration: fc.record({
      signals: fc.constantFrom({}, { logs: {} }, { traces: {}, metrics: {}, logs: {} }),
      overrideEnvVars: fc.boolean(),
      namespaceSelector,
    }),
    activeGate: fc.constant({ capabilities: ['routing'] }),
    networkZone: fc.constantFrom('zone', ''),
    trustedCAs: fc.constant('cas'),
  },
  { requiredKeys: [] },
)

const flags = someOf({
  'node-image-pull': ['true'],
  'automatic-injection': ['false'],
  'label-version-detection': ['true'],
  'init-container-seccomp-profile': ['true'],
  'max-csi-mount-timeout': ['90s', '0', 'x'],
  'injection-failure-policy': ['fail'],
})

const status: Arbitrary<DynaKubeStatus> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(READY) },
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ codeModules: { version: '1' } }) },
)

const rules = fc.array(
  fc.record({
    type: fc.constantFrom('LABEL', 'ANNOTATION', 'label', ''),
    source: fc.constantFrom('team', 'constructor', 'note'),
    target: fc.constantFrom('', 'dt.owner', 'not a name', '__proto__', 'a/b', 'x'.repeat(64)),
  }),
  { maxLength: 3 },
)

const namespace = fc.record({
  labels: someOf({ team: ['a', 'b'], 'pod-security.kubernetes.io/enforce': ['restricted'] }),
  annotations: someOf({
    'metadata.dynatrace.com/stage': ['test', '<&>'],
    'mapping.release.dynatrace.com/version': ["metadata.labels['v']", 'nonsense', "metadata.labels['a b']"],
    note: ['n', '$(K8S_PODNAME)'],
  }),
})

const facts: Arbitrary<InjectionFacts> = fc
  .tuple(some([...FACTS.secrets.keys()]), fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }))
  .map(([missing, chance, ownerChance]) => ({
    secrets: new Map(
      [...FACTS.secrets.keys()].map((name): [string, SecretCheck] => {
        const isMissing = chance === 0 && missing.includes(name)
        return [name, isMissing ? { isPresent: false, problem: 'it is missing' } : { isPresent: true }]
      }),
    ),
    ...(ownerChance === 0 ? { workloadProblem: 'it was deleted' } : { workload: { kind: 'deployment', name: 'shop' } }),
  }))

/** An injection with all that it depends on. */
export const arbitraryInjection: Arbitrary<{ readonly input: InjectionInput; readonly facts: InjectionFacts }> = fc
  .record({
    pod,
    spec,
    flags,
    status,
    rules,
    namespace,
    facts,
    settings: fc.record({ hasCsiDriver: fc.boolean(), isOpenShift: fc.boolean() }),
  })
  .map((of) => ({
    input: inputOf(
      readyDynaKube(of.spec, { flags: of.flags, status: { ...of.status, metadataEnrichment: { rules: of.rules } } }),
      { annotations: of.pod.annotations, containers: of.pod.spec.containers, spec: of.pod.spec },
      { namespace: of.namespace, settings: of.settings },
    ),
    facts: of.facts,
  }))
