import type { EnvVar } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { decide } from './decision.ts'
import { app, envOf, FACTS, factsWithout, inject, inputOf, readyDynaKube, WITHOUT_WORKLOAD } from './testing/build.ts'

const EVERY_SIGNAL = { otlpExporterConfiguration: { signals: { traces: {}, metrics: {}, logs: {} } } }
const exporting = readyDynaKube(EVERY_SIGNAL)
const throughGateway = readyDynaKube({ ...EVERY_SIGNAL, activeGate: { capabilities: ['routing'] } })
const RESULT = 'otlp-exporter-configuration.dynatrace.com/injected'
const REASON = 'otlp-exporter-configuration.dynatrace.com/reason'
const attributesOf = (result: ReturnType<typeof inject>, name = 'app') =>
  Object.fromEntries(
    (envOf(result, name).OTEL_RESOURCE_ATTRIBUTES ?? '').split(',').map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )

describe('exporters without an ActiveGate', () => {
  const result = inject(inputOf(exporting))

  it('send all signals to the tenant, with the token of the Secret', () => {
    const base = 'https://tenant.live.example.com/api/v2/otlp/v1'
    expect(envOf(result)).toMatchObject({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${base}/traces`,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${base}/metrics`,
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${base}/logs`,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'authorization=Api-Token $(DT_API_TOKEN)',
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
    })
    expect(result.pod.spec.containers[0]?.env?.[0]).toEqual({
      name: 'DT_API_TOKEN',
      valueFrom: { secretKeyRef: { name: 'dynatrace-otlp-exporter-config', key: 'dataIngestToken' } },
    })
  })

  it('need neither an init container nor a certificate nor an exception from the proxy', () => {
    expect(result.pod.spec).not.toHaveProperty('initContainers')
    expect(result.pod.spec).not.toHaveProperty('volumes')
    expect(Object.keys(envOf(result)).join()).not.toMatch(/CERTIFICATE|NO_PROXY/)
    expect(result.pod.metadata.annotations).toMatchObject({
      [RESULT]: 'true',
      'metadata.dynatrace.com': '{}',
      'metadata.dynatrace.com/k8s.workload.kind': 'deployment',
    })
    expect(result.event).toBeUndefined()
  })

  it('do not change when they are configured again', () => {
    expect(inject({ ...inputOf(exporting), pod: result.pod }).pod).toBe(result.pod)
  })
})

describe('exporters with an ActiveGate', () => {
  it('send to it, past the proxy, and trust its certificate', () => {
    const result = inject(inputOf(throughGateway))
    expect(envOf(result)).toMatchObject({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://dk-activegate.dynatrace/e/tenant-uuid/api/v2/otlp/v1/traces',
      OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: '/etc/dynatrace/ssl/activegate-tls.crt',
      NO_PROXY: 'dk-activegate.dynatrace',
    })
    expect(result.pod.spec.containers[0]?.volumeMounts).toEqual([
      { name: 'otlp-dynatrace-certs', mountPath: '/etc/dynatrace/ssl', readOnly: true },
    ])
    expect(result.pod.spec.volumes).toEqual([
      { name: 'otlp-dynatrace-certs', secret: { secretName: 'dynatrace-otlp-exporter-certs', defaultMode: 420 } },
    ])
    expect(inject({ ...inputOf(throughGateway), pod: result.pod }).pod).toBe(result.pod)
  })

  it.each([
    ['localhost', 'localhost,dk-activegate.dynatrace'],
    ['', 'dk-activegate.dynatrace'],
    ['dk-activegate.dynatrace.svc', 'dk-activegate.dynatrace.svc'],
  ])('add themselves to the exceptions "%s" of the container, in whichever spelling', (value, expected) => {
    const result = inject(inputOf(throughGateway, { containers: [app({ env: [{ name: 'no_proxy', value }] })] }))
    expect(result.pod.spec.containers[0]?.env?.[0]).toEqual({ name: 'no_proxy', value: expected })
    expect(envOf(result)).not.toHaveProperty('NO_PROXY')
  })

  it('add themselves to the first of two spellings', () => {
    const env = ['no_proxy', 'NO_PROXY'].map((name) => ({ name, value: 'localhost' }))
    const result = inject(inputOf(throughGateway, { containers: [app({ env })] }))
    expect(envOf(result)).toMatchObject({ no_proxy: 'localhost,dk-activegate.dynatrace', NO_PROXY: 'localhost' })
  })

  it('leave exceptions from elsewhere alone: with a value too, the API server would reject the pod', () => {
    const elsewhere = { name: 'NO_PROXY', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }
    const mine = { name: 'no_proxy', value: 'a' }
    const envWith = (...env: EnvVar[]) =>
      inject(inputOf(throughGateway, { containers: [app({ env })] })).pod.spec.containers[0]?.env?.slice(0, env.length)
    expect(envWith(elsewhere)).toEqual([elsewhere])
    expect(envWith(elsewhere, mine)).toEqual([elsewhere, { name: 'no_proxy', value: 'a,dk-activegate.dynatrace' }])
    expect(envWith(mine, { ...elsewhere, name: 'no_proxy' })).toEqual([mine, { ...elsewhere, name: 'no_proxy' }])
  })

  it('do not change NO_PROXY with the feature flag', () => {
    const flags = { 'otlp-exporter-configuration-set-no-proxy': 'false' }
    const dynakube = readyDynaKube({ ...EVERY_SIGNAL, activeGate: { capabilities: ['routing'] } }, { flags })
    expect(envOf(inject(inputOf(dynakube)))).not.toHaveProperty('NO_PROXY')
  })

  it('revert everything while the tenant is not known', () => {
    const status = { codeModules: { version: '1' } }
    const spec = { ...EVERY_SIGNAL, oneAgent: { applicationMonitoring: {} }, activeGate: { capabilities: ['routing'] } }
    const input = inputOf(readyDynaKube(spec, { status }))
    const { pod } = inject(input)
    expect(pod.spec).toBe(input.pod.spec)
    expect(pod.metadata.annotations).toEqual({ [RESULT]: 'false', [REASON]: 'IngestEndpointUnavailable' })
  })

  it('use the certificate where the container mounts it', () => {
    const volumeMounts = [{ name: 'otlp-dynatrace-certs', mountPath: '/certs' }]
    const result = inject(inputOf(throughGateway, { containers: [app({ volumeMounts })] }))
    expect(result.pod.spec.containers[0]?.volumeMounts).toEqual(volumeMounts)
    expect(envOf(result)).toHaveProperty('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT')
  })

  it('stay as they are where the container mounts something at the place of the certificate', () => {
    const volumeMounts = [{ name: 'mine', mountPath: '/etc/dynatrace/ssl' }]
    const result = inject(inputOf(throughGateway, { containers: [app({ volumeMounts })] }))
    expect(Object.keys(envOf(result)).join()).not.toContain('EXPORTER')
    expect(result.pod.spec).not.toHaveProperty('volumes')
  })
})

describe('a container that configures its exporter itself', () => {
  const containers = [app({ env: [{ name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://mine' }] })]

  it('keeps its settings, and gets resource attributes all the same', () => {
    const names = Object.keys(envOf(inject(inputOf(throughGateway, { containers }))))
    expect(names).toEqual([
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'K8S_PODNAME',
      'K8S_PODUID',
      'K8S_NODE_NAME',
      'OTEL_RESOURCE_ATTRIBUTES',
    ])
  })

  it('is overridden on demand, signal by signal', () => {
    const { otlpExporterConfiguration } = EVERY_SIGNAL
    const overriding = readyDynaKube({
      otlpExporterConfiguration: { ...otlpExporterConfiguration, overrideEnvVars: true },
    })
    const env = [...(containers[0]?.env ?? []), { name: 'OTEL_EXPORTER_OTLP_LOGS_PROTOCOL', value: 'grpc' }]
    expect(envOf(inject(inputOf(overriding, { containers: [app({ env })] })))).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://mine',
      OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: expect.stringContaining('/v1/traces'),
    })
  })

  it('gets the token of the tenant in place of one of its own', () => {
    const env = [{ name: 'DT_API_TOKEN', value: 'mine' }]
    const { pod } = inject(inputOf(exporting, { containers: [app({ env })] }))
    expect(pod.spec.containers[0]?.env?.filter(({ name }) => name === 'DT_API_TOKEN')).toEqual([
      {
        name: 'DT_API_TOKEN',
        valueFrom: { secretKeyRef: { name: 'dynatrace-otlp-exporter-config', key: 'dataIngestToken' } },
      },
    ])
  })
})

describe('exporters of a pod', () => {
  it.each([
    ['NoOTLPExporterConfigSecret', 'dynatrace-otlp-exporter-config'],
    ['NoOTLPExporterActiveGateCertSecret', 'dynatrace-otlp-exporter-certs'],
  ])('report %s without the Secret %s, and do not prevent code modules', (reason, secret) => {
    const spec = { ...EVERY_SIGNAL, oneAgent: { applicationMonitoring: {} }, activeGate: { capabilities: ['routing'] } }
    const { pod, outcome } = inject(inputOf(readyDynaKube(spec)), factsWithout(secret))
    expect(pod.metadata.annotations).toMatchObject({
      [RESULT]: 'false',
      [REASON]: reason,
      'oneagent.dynatrace.com/injected': 'true',
    })
    expect(outcome).toBe('injected')
  })

  it('say OwnerLookupFailed and revert code modules when the workload cannot be found', () => {
    const input = inputOf(readyDynaKube({ ...EVERY_SIGNAL, oneAgent: { applicationMonitoring: {} } }))
    const { pod } = inject(input, WITHOUT_WORKLOAD)
    expect(pod.spec).toBe(input.pod.spec)
    expect(pod.metadata.annotations).toEqual({ [RESULT]: 'false', [REASON]: 'OwnerLookupFailed' })
  })

  it('have their own reason beside a missing Secret of the code modules, whatever else these lack', () => {
    const spec = { ...EVERY_SIGNAL, oneAgent: { cloudNativeFullStack: {} }, activeGate: { capabilities: ['routing'] } }
    const input = inputOf(readyDynaKube(spec, { status: {} }))
    const isPresent = false
    const secrets = new Map(decide(input).injectionSecrets.map((name) => [name, { isPresent, problem: 'it is gone' }]))
    expect(decide(input).exporterSecrets).toEqual(['dynatrace-otlp-exporter-config', 'dynatrace-otlp-exporter-certs'])
    expect(inject(input, { secrets }).pod.metadata.annotations).toEqual({
      'dynakube.dynatrace.com/injected': 'false',
      'dynakube.dynatrace.com/reason': 'NoBootstrapperConfig',
      [RESULT]: 'false',
      [REASON]: 'NoOTLPExporterConfigSecret',
    })
  })

  it('are configured in an added container by a repeated call that cannot find the workload', () => {
    const { pod } = inject(inputOf(exporting))
    const spec = { ...pod.spec, containers: [...pod.spec.containers, app({ name: 'mesh' })] }
    const result = inject({ ...inputOf(exporting), pod: { ...pod, spec } }, WITHOUT_WORKLOAD)
    expect(envOf(result, 'mesh')).toHaveProperty('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT')
    expect(envOf(result, 'mesh')).not.toHaveProperty('OTEL_RESOURCE_ATTRIBUTES')
  })

  it('have resource attributes in an added container after a repeated call without a tenant', () => {
    const { pod } = inject(inputOf(throughGateway))
    const spec = { ...pod.spec, containers: [...pod.spec.containers, app({ name: 'mesh' })] }
    const { status: _, ...unready } = throughGateway
    const result = inject({ ...inputOf(unready), pod: { ...pod, spec } })
    expect(envOf(result, 'mesh')).not.toHaveProperty('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT')
    expect(attributesOf(result, 'mesh')).toMatchObject({ 'k8s.container.name': 'mesh' })
  })

  it('stay when a repeated call cannot find the workload', () => {
    const { pod } = inject(inputOf(exporting))
    expect(inject({ ...inputOf(exporting), pod }, WITHOUT_WORKLOAD).pod).toBe(pod)
  })

  it('can be enabled where automatic injection is off, but only the master switch opts out where it is on', () => {
    const manual = readyDynaKube(EVERY_SIGNAL, { flags: { 'automatic-injection': 'false' } })
    const annotate = (value: string) => ({ annotations: { 'otlp-exporter-configuration.dynatrace.com/inject': value } })
    expect(inject(inputOf(manual)).outcome).toBe('notInjected')
    expect(inject(inputOf(manual, annotate('true'))).outcome).toBe('injected')
    expect(inject(inputOf(exporting, annotate('false'))).outcome).toBe('injected')
  })

  it('annotate pods that do not get them too, as the Dynatrace Operator does', () => {
    const manual = readyDynaKube(EVERY_SIGNAL, { flags: { 'automatic-injection': 'false' } })
    const { pod } = inject(inputOf(manual, { annotations: { [REASON]: 'OwnerLookupFailed' } }))
    expect(pod.metadata.annotations).toEqual({ [RESULT]: 'true' })
  })

  it('follow their own selector', () => {
    const namespaceSelector = { matchLabels: { team: 'a' } }
    const selecting = readyDynaKube({ otlpExporterConfiguration: { signals: { logs: {} }, namespaceSelector } })
    const outside = inject(inputOf(selecting))
    expect(outside.outcome).toBe('notInjected')
    expect(envOf(outside)).toEqual({})
    expect(inject(inputOf(selecting, {}, { namespace: { labels: { team: 'a' } } })).outcome).toBe('injected')
  })
})

describe('resource attributes', () => {
  it('are encoded like a form, apart from references, and come last', () => {
    const status = { ...exporting.status, kubernetesClusterName: "a b=c,d!'" }
    const result = inject(inputOf(readyDynaKube(EVERY_SIGNAL, { status })))
    expect(attributesOf(result)).toMatchObject({
      'k8s.cluster.name': 'a+b%3Dc%2Cd%21%27',
      'k8s.pod.name': '$(K8S_PODNAME)',
      'k8s.container.name': 'app',
      'k8s.workload.kind': 'deployment',
      'dt.kubernetes.workload.name': 'shop',
    })
    expect(result.pod.spec.containers[0]?.env?.at(-1)?.name).toBe('OTEL_RESOURCE_ATTRIBUTES')
  })

  it('do not pass on variables of containers that annotations, labels or rules refer to', () => {
    const text = '$(DB_PASSWORD)'
    const rules = [
      { type: 'LABEL', source: 'from-label', target: 'label' },
      { type: 'ANNOTATION', source: 'from-annotation', target: 'rule' },
      { type: 'ANNOTATION', source: 'from-annotation', target: `target.${text}` },
    ]
    const status = { ...exporting.status, kubernetesClusterName: text, metadataEnrichment: { rules } }
    const labels = { 'from-label': text }
    const metadata = {
      'metadata.dynatrace.com/x': text,
      'metadata.dynatrace.com/y': `a ${text} $${text} $(K8S_PODNAME`,
    }
    const own = { 'metadata.dynatrace.com/z': text, 'metadata.dynatrace.com/pod': '$(K8S_PODUID)' }
    const namespace = { labels, annotations: { 'from-annotation': text, ...metadata } }
    const env = [{ name: 'DB_PASSWORD', value: 'secret' }]
    const result = inject(
      inputOf(readyDynaKube(EVERY_SIGNAL, { status }), { annotations: own, containers: [app({ env })] }, { namespace }),
      { ...FACTS, workload: { kind: 'job', name: text } },
    )
    const { value = '' } = result.pod.spec.containers[0]?.env?.at(-1) ?? {}
    expect(value.match(/\$\([^)]*\)/g)?.toSorted()).toEqual([
      '$(K8S_NODE_NAME)',
      '$(K8S_PODNAME)',
      '$(K8S_PODUID)',
      '$(K8S_PODUID)',
    ])
    const encoded = '%24%28DB_PASSWORD%29'
    expect(attributesOf(result)).toMatchObject({
      ...{ x: encoded, z: encoded, label: encoded, rule: encoded, pod: '$(K8S_PODUID)' },
      'k8s.cluster.name': encoded,
      'k8s.workload.name': encoded,
    })
  })

  it('prefer metadata of the pod to what is computed, and what the container says to both', () => {
    const annotations = { 'metadata.dynatrace.com/k8s.pod.name': 'annotated' }
    expect(attributesOf(inject(inputOf(exporting, { annotations })))['k8s.pod.name']).toBe('annotated')
    const env = [
      { name: 'OTEL_RESOURCE_ATTRIBUTES', value: ' k8s.pod.name = mine ,broken,service.name=shop' },
      { name: 'LAST', value: '1' },
    ]
    const result = inject(inputOf(exporting, { annotations, containers: [app({ env })] }))
    expect(attributesOf(result)).toMatchObject({ 'k8s.pod.name': 'mine', 'service.name': 'shop' })
    expect(result.pod.spec.containers[0]?.env?.filter(({ name }) => name === 'OTEL_RESOURCE_ATTRIBUTES')).toHaveLength(
      1,
    )
  })

  it.each([
    ['service.name=a,service.name=b', { 'service.name': 'b' }],
    ['broken,service.name=a', { 'service.name': 'a' }],
    ['service.name=', {}],
  ])('of the container are read as OpenTelemetry does: %s', (value, expected) => {
    const env = [{ name: 'OTEL_RESOURCE_ATTRIBUTES', value }]
    const { broken, 'service.name': name } = attributesOf(inject(inputOf(exporting, { containers: [app({ env })] })))
    expect({ ...(name && { 'service.name': name }) }).toEqual(expected)
    expect(broken).toBeUndefined()
  })

  it('are not computed where the pod has an empty annotation for them', () => {
    const annotations = { 'metadata.dynatrace.com/k8s.pod.name': '' }
    expect(attributesOf(inject(inputOf(exporting, { annotations })))).not.toHaveProperty(['k8s.pod.name'])
  })

  it('move behind variables that were added after them', () => {
    const { pod } = inject(inputOf(exporting))
    const containers = pod.spec.containers.map((container) => ({
      ...container,
      env: [...(container.env ?? []), { name: 'LATE', value: '1' }],
    }))
    const again = inject({ ...inputOf(exporting), pod: { ...pod, spec: { ...pod.spec, containers } } })
    expect(again.pod.spec.containers[0]?.env?.slice(-2).map(({ name }) => name)).toEqual([
      'LATE',
      'OTEL_RESOURCE_ATTRIBUTES',
    ])
  })
})
