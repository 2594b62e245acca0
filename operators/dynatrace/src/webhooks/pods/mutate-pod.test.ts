/** Which pods are injected, and what keeps a pod from it. */
import { describe, expect, it } from 'vitest'
import {
  APPLICATION,
  app,
  argsOf,
  both,
  CLOUD_NATIVE,
  cloudNative,
  ENRICHMENT,
  enrichment,
  envOf,
  FACTS,
  factsWithout,
  inject,
  inputOf,
  NO_CSI,
  readyDynaKube,
  WITHOUT_WORKLOAD,
  withArgument,
} from './testing/build.ts'

describe('a pod of a ready DynaKube with cloudNativeFullStack', () => {
  const result = inject(inputOf(cloudNative))

  it('gets one init container that runs bootstrap, the CSI volume and both result annotations', () => {
    expect(result.pod.spec.initContainers).toHaveLength(1)
    expect(argsOf(result)[0]).toBe('bootstrap')
    expect(result.pod.spec.volumes?.[0]).toEqual({
      name: 'oneagent-bin',
      csi: {
        driver: 'csi.oneagent.dynatrace.com',
        readOnly: true,
        volumeAttributes: { mode: 'app', dynakube: 'dk', retryTimeout: '10m0s' },
      },
    })
    expect(result.pod.metadata.annotations).toEqual({
      'dynakube.dynatrace.com/injected': 'true',
      'oneagent.dynatrace.com/injected': 'true',
    })
    expect(result).toMatchObject({ outcome: 'injected', event: 'Inject', failures: [] })
  })

  it('has the code modules, the preload file and its configuration in each container', () => {
    const [container] = result.pod.spec.containers
    expect(container?.volumeMounts).toEqual([
      { name: 'oneagent-bin', mountPath: '/opt/dynatrace/oneagent-paas', readOnly: true },
      { name: 'dynatrace-config', mountPath: '/etc/ld.so.preload', subPath: 'oneagent/ld.so.preload' },
      { name: 'dynatrace-config', mountPath: '/var/lib/dynatrace', subPath: 'app' },
    ])
    expect(envOf(result)).toEqual({
      DT_DEPLOYMENT_METADATA:
        'orchestration_tech=Operator-cloud_native_fullstack;script_version=1.8.1;orchestrator_id=cluster-uid',
      LD_PRELOAD: '/opt/dynatrace/oneagent-paas/agent/lib64/liboneagentproc.so',
      DT_STORAGE: '/var/lib/dynatrace/oneagent',
    })
  })

  it('has no metadata annotations and no enrichment when that is off', () => {
    expect(Object.keys(result.pod.metadata.annotations ?? {}).filter((key) => key.startsWith('metadata.'))).toEqual([])
    expect(argsOf(result)).not.toContain('--metadata-enrichment')
  })

  it('does not change when it is injected again', () => {
    const again = inject({ ...inputOf(cloudNative), pod: result.pod })
    expect(again.pod).toBe(result.pod)
    expect(again).toMatchObject({ outcome: 'unchanged', event: undefined })
  })
})

describe('a pod is ignored', () => {
  it.each([
    ['by dynatrace.com/inject: "false"', { 'dynatrace.com/inject': 'false' }],
    ['when all containers are excluded', { 'container.inject.dynatrace.com/app': 'false' }],
    [
      'when it is a debug copy',
      { 'debug.openshift.io/source-container': 'app', 'debug.openshift.io/source-resource': 'r' },
    ],
    ['when it is the mirror of a static pod', { 'kubernetes.io/config.mirror': 'x' }],
  ])('%s', (_, annotations) => {
    const signals = { signals: { traces: {} } }
    const input = inputOf(readyDynaKube({ ...CLOUD_NATIVE, ...ENRICHMENT, otlpExporterConfiguration: signals }), {
      annotations,
    })
    const result = inject(input)
    expect(result.pod).toBe(input.pod)
    expect(result.outcome).toBe('skipped')
  })

  it('when it runs on Windows, where the API server rejects the settings of the init container', () => {
    expect(inject(inputOf(cloudNative, { spec: { os: { name: 'windows' } } })).outcome).toBe('skipped')
  })

  it('but not with only one of the annotations of a debug copy', () => {
    const annotations = { 'debug.openshift.io/source-container': 'app' }
    expect(inject(inputOf(cloudNative, { annotations })).outcome).toBe('injected')
  })
})

describe('an excluded container', () => {
  const containers = [app(), app({ name: 'side' })]

  it('gets no mounts, variables or attributes while the others do', () => {
    const result = inject(
      inputOf(both, { containers, annotations: { 'container.inject.dynatrace.com/side': 'false' } }),
    )
    expect(result.pod.spec.containers[1]).toEqual(containers[1])
    expect(withArgument(result, '--attribute-container=')).toHaveLength(1)
  })

  it('cannot be included by the pod when the DynaKube excludes it', () => {
    const excluding = readyDynaKube(CLOUD_NATIVE, { annotations: { 'container.inject.dynatrace.com/app': 'false' } })
    const result = inject(
      inputOf(excluding, { containers, annotations: { 'container.inject.dynatrace.com/app': 'true' } }),
    )
    expect(result.pod.spec.containers[0]).toEqual(containers[0])
    expect(result.pod.spec.containers[1]?.volumeMounts).toHaveLength(3)
  })
})

describe('without what it needs, a pod', () => {
  const annotationsOf = (result: ReturnType<typeof inject>) => result.pod.metadata.annotations

  it('only says NoBootstrapperConfig when the Secret is missing', () => {
    const input = inputOf(both)
    const result = inject(input, factsWithout('dynatrace-bootstrapper-config'))
    expect(result.pod.spec).toBe(input.pod.spec)
    expect(annotationsOf(result)).toEqual({
      'dynakube.dynatrace.com/injected': 'false',
      'dynakube.dynatrace.com/reason': 'NoBootstrapperConfig',
    })
    expect(result.outcome).toBe('notInjected')
  })

  it('needs the Secret with certificates only with an ActiveGate or trusted CAs', () => {
    const without = factsWithout('dynatrace-bootstrapper-certs')
    expect(inject(inputOf(cloudNative), without).outcome).toBe('injected')
    const gateway = readyDynaKube({ ...CLOUD_NATIVE, activeGate: { capabilities: ['routing'] } })
    expect(inject(inputOf(gateway), without).outcome).toBe('notInjected')
    expect(inject(inputOf(readyDynaKube({ ...CLOUD_NATIVE, trustedCAs: 'cas' })), without).outcome).toBe('notInjected')
  })

  it('only says DynaKubeStatusNotReady while the version of the code modules is not known', () => {
    const input = inputOf(
      readyDynaKube({ ...CLOUD_NATIVE, ...ENRICHMENT }, { status: { codeModules: { version: '' } } }),
    )
    const result = inject(input)
    expect(result.pod.spec).toBe(input.pod.spec)
    expect(annotationsOf(result)).toEqual({
      'oneagent.dynatrace.com/injected': 'false',
      'oneagent.dynatrace.com/reason': 'DynaKubeStatusNotReady',
    })
  })

  it('says DynaKubeStatusNotReady where nodes pull the image of the code modules and it is not known', () => {
    const status = { codeModules: { version: '1' }, oneAgent: { connectionInfoStatus: { tenantUUID: 't' } } }
    const pulling = readyDynaKube(CLOUD_NATIVE, { status, flags: { 'node-image-pull': 'true' } })
    expect(annotationsOf(inject(inputOf(pulling, {}, NO_CSI)))).toMatchObject({
      'oneagent.dynatrace.com/reason': 'DynaKubeStatusNotReady',
    })
    expect(inject(inputOf(pulling)).outcome).toBe('injected')
  })

  it('says MissingTenantUUID with cloudNativeFullStack, and needs none with applicationMonitoring', () => {
    const status = { codeModules: { version: '1' } }
    const missing = inject(inputOf(readyDynaKube(CLOUD_NATIVE, { status })))
    expect(annotationsOf(missing)).toMatchObject({ 'oneagent.dynatrace.com/reason': 'MissingTenantUUID' })
    const injected = inject(inputOf(readyDynaKube(APPLICATION, { status })))
    expect(injected.outcome).toBe('injected')
    expect(argsOf(injected)).not.toContain('--fullstack')
  })

  it('says OwnerLookupFailed for enrichment and reverts everything else', () => {
    const input = inputOf(both)
    const result = inject(input, WITHOUT_WORKLOAD)
    expect(result.pod.spec).toBe(input.pod.spec)
    expect(annotationsOf(result)).toEqual({
      'metadata-enrichment.dynatrace.com/injected': 'false',
      'metadata-enrichment.dynatrace.com/reason': 'OwnerLookupFailed',
    })
  })

  it('says NoMutationNeeded when it opts out of all features', () => {
    const annotations = {
      'oneagent.dynatrace.com/inject': 'false',
      'metadata-enrichment.dynatrace.com/inject': 'false',
    }
    const result = inject(inputOf(both, { annotations }))
    expect(annotationsOf(result)).toMatchObject({ 'dynakube.dynatrace.com/reason': 'NoMutationNeeded' })
  })

  it('loses the reason of an earlier failure once it is injected', () => {
    const annotations = { 'dynakube.dynatrace.com/injected': 'false', 'dynakube.dynatrace.com/reason': 'x' }
    expect(annotationsOf(inject(inputOf(cloudNative, { annotations })))).not.toHaveProperty([
      'dynakube.dynatrace.com/reason',
    ])
  })
})

describe('a container that was added after injection', () => {
  const first = inject(inputOf(both))
  const containers = [...first.pod.spec.containers, app({ name: 'mesh', image: 'mesh:1' })]
  const added = { ...first.pod, spec: { ...first.pod.spec, containers } }
  const second = inject({ ...inputOf(both), pod: added })

  it('is the only one to change, and has its own argument at the end', () => {
    expect(second.pod.spec.containers[0]).toBe(containers[0])
    expect(second.pod.spec.containers[1]?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
      '/var/lib/dynatrace',
      '/opt/dynatrace/oneagent-paas',
      '/etc/ld.so.preload',
    ])
    expect(argsOf(second)).toEqual([
      ...argsOf(first),
      '--attribute-container={"container_image.repository":"mesh","container_image.tags":"1","k8s.container.name":"mesh"}',
    ])
    expect(second).toMatchObject({ event: 'UpdatePod', outcome: 'updated' })
  })

  it('changes nothing more when the pod is reviewed again', () => {
    const third = inject({ ...inputOf(both), pod: second.pod })
    expect(third.pod).toBe(second.pod)
    expect(third.event).toBeUndefined()
  })

  it('annotates the pod when the Secret was deleted meanwhile', () => {
    const result = inject({ ...inputOf(both), pod: added }, factsWithout('dynatrace-bootstrapper-config'))
    expect(result.pod.metadata.annotations).toMatchObject({ 'dynakube.dynatrace.com/injected': 'false' })
    expect(result.pod.spec).toBe(added.spec)
  })

  it('is not injected behind an init container of the user with the same name', () => {
    const spec = { initContainers: [{ name: 'dynatrace-operator', image: 'mine' }] }
    const input = inputOf(both, { spec })
    expect(inject(input).pod).toBe(input.pod)
  })
})

it('facts that were not looked up count as missing', () => {
  expect(inject(inputOf(cloudNative), { ...FACTS, secrets: new Map() }).outcome).toBe('notInjected')
})

describe('a volume of the user with a name of ours', () => {
  const hostPath = { hostPath: { path: '/srv' } }
  const ours = [
    { secret: { name: 'dynatrace-bootstrapper-config', optional: false } },
    { secret: { name: 'dynatrace-bootstrapper-certs', optional: true } },
  ]
  const exporting = readyDynaKube({
    otlpExporterConfiguration: { signals: { logs: {} } },
    activeGate: { capabilities: ['routing'] },
  })
  const everything = readyDynaKube({ ...both.spec, ...exporting.spec })

  it.each([
    ['oneagent-bin', hostPath, both, 'oneagent'],
    ['oneagent-bin', { csi: { driver: 'csi.example.com' } }, both, 'oneagent'],
    [
      'oneagent-bin',
      { csi: { driver: 'csi.oneagent.dynatrace.com', volumeAttributes: { mode: 'host' } } },
      both,
      'oneagent',
    ],
    ['dynatrace-config', hostPath, both, 'volume'],
    ['dynatrace-config', { persistentVolumeClaim: { claimName: 'c' } }, enrichment, 'volume'],
    ['dynatrace-input', { emptyDir: {} }, both, 'volume'],
    ['dynatrace-input', { projected: { sources: ours.slice(0, 1) } }, both, 'volume'],
    ['dynatrace-input', { projected: { sources: [...ours, { configMap: { name: 'c' } }] } }, enrichment, 'volume'],
    ['dynatrace-input', { projected: { sources: [{ secret: { name: 'other' } }, ours[1] ?? {}] } }, both, 'volume'],
    ['otlp-dynatrace-certs', { secret: { secretName: 'other' } }, exporting, 'otlp-exporter-configuration'],
    ['otlp-dynatrace-certs', hostPath, everything, 'otlp-exporter-configuration'],
  ] as const)('%s of another type or content is not used: nothing is injected', (name, source, dynakube, prefix) => {
    const input = inputOf(dynakube, { spec: { volumes: [{ name, ...source }] } })
    const result = inject(input)
    expect(result.outcome).toBe('notInjected')
    expect(result.pod.spec).toBe(input.pod.spec)
    expect(result.pod.metadata.annotations).toEqual({
      [`${prefix}.dynatrace.com/injected`]: 'false',
      [`${prefix}.dynatrace.com/reason`]: 'ConflictingVolumeType',
    })
    expect(result.failures).toMatchObject([{ decidedBy: `Pod spec.volumes[name=${name}]` }])
    expect(inject({ ...input, pod: result.pod }).pod).toBe(result.pod)
  })

  it('is used if it is what would be added, with defaults of the API server', () => {
    const volumes = [
      { name: 'dynatrace-input', projected: { sources: ours, defaultMode: 420 } },
      { name: 'dynatrace-config', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'otlp-dynatrace-certs', secret: { secretName: 'dynatrace-otlp-exporter-certs', defaultMode: 420 } },
    ]
    const result = inject(inputOf(everything, { spec: { volumes } }))
    expect(result.outcome).toBe('injected')
    expect(result.pod.spec.volumes?.slice(0, 3)).toEqual(volumes)
  })

  it('does not matter to features that do not need it', () => {
    const volumes = [{ name: 'oneagent-bin', ...hostPath }]
    expect(inject(inputOf(enrichment, { spec: { volumes } })).outcome).toBe('injected')
    expect(inject(inputOf(exporting, { spec: { volumes } })).outcome).toBe('injected')
  })
})
