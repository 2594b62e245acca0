import { describe, expect, it } from 'vitest'
import {
  app,
  envOf,
  FACTS,
  factsWithout,
  initOf,
  inject,
  inputOf,
  readyDynaKube,
  WITHOUT_WORKLOAD,
} from './testing/build.ts'

const CLOUD_NATIVE = { oneAgent: { cloudNativeFullStack: {} } }
const APPLICATION = { oneAgent: { applicationMonitoring: {} } }
const ENRICHMENT = { metadataEnrichment: { enabled: true } }
const cloudNative = readyDynaKube(CLOUD_NATIVE)
const both = readyDynaKube({ ...CLOUD_NATIVE, ...ENRICHMENT })
const enrichment = readyDynaKube(ENRICHMENT)
const NO_CSI = { settings: { hasCsiDriver: false } }
const argsOf = (result: ReturnType<typeof inject>) => initOf(result)?.args ?? []
const withArgument = (result: ReturnType<typeof inject>, start: string) =>
  argsOf(result).filter((argument) => argument.startsWith(start))

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

describe('enrichment', () => {
  it('only needs no code modules and keeps the small resources', () => {
    const annotations = { 'oneagent.dynatrace.com/inject': 'false', 'metadata-enrichment.dynatrace.com/inject': 'true' }
    const result = inject(inputOf(both, { annotations }))
    expect(argsOf(result)).toContain('--metadata-enrichment')
    expect(withArgument(result, '--target')).toEqual([])
    expect(initOf(result)?.resources).toEqual({
      requests: { cpu: '30m', memory: '30Mi' },
      limits: { cpu: '100m', memory: '60Mi' },
    })
    expect(envOf(result)).toEqual({})
  })

  it('names the workload in arguments and annotations', () => {
    const result = inject(inputOf(enrichment))
    expect(withArgument(result, '--attribute=k8s.workload')).toEqual([
      '--attribute=k8s.workload.kind=deployment',
      '--attribute=k8s.workload.name=shop',
    ])
    expect(result.pod.metadata.annotations).toMatchObject({
      'metadata.dynatrace.com/k8s.workload.kind': 'deployment',
      'metadata.dynatrace.com/k8s.workload.name': 'shop',
    })
  })

  it('follows its own selector, independent of that of code modules', () => {
    const selector = { matchLabels: { team: 'a' } }
    const dynakube = readyDynaKube({
      oneAgent: { cloudNativeFullStack: { namespaceSelector: selector } },
      metadataEnrichment: { enabled: true, namespaceSelector: { matchLabels: { team: 'b' } } },
    })
    const result = inject(inputOf(dynakube, {}, { namespace: { labels: { team: 'b' } } }))
    expect(result.pod.metadata.annotations).toMatchObject({ 'metadata-enrichment.dynatrace.com/injected': 'true' })
    expect(result.pod.metadata.annotations).not.toHaveProperty(['oneagent.dynatrace.com/injected'])
  })

  it('is off with automatic injection, except where a pod enables it', () => {
    const manual = readyDynaKube({ ...CLOUD_NATIVE, ...ENRICHMENT }, { flags: { 'automatic-injection': 'false' } })
    expect(inject(inputOf(manual)).outcome).toBe('notInjected')
    const asking = inject(inputOf(manual, { annotations: { 'metadata-enrichment.dynatrace.com/inject': 'true' } }))
    expect(asking.outcome).toBe('injected')
    expect(withArgument(asking, '--target')).toEqual([])
  })
})

describe('how code modules get into a pod', () => {
  const binOf = (result: ReturnType<typeof inject>) =>
    result.pod.spec.volumes?.find(({ name }) => name === 'oneagent-bin')
  const imagePull = readyDynaKube(CLOUD_NATIVE, { flags: { 'node-image-pull': 'true' } })

  it('by download without the CSI driver: into an emptyDir, and with resources only where they are given', () => {
    const result = inject(inputOf(readyDynaKube(APPLICATION), {}, NO_CSI))
    expect(binOf(result)).toEqual({ name: 'oneagent-bin', emptyDir: {} })
    expect(initOf(result)?.volumeMounts?.[0]).toEqual({ name: 'oneagent-bin', mountPath: '/mnt/bin' })
    expect(argsOf(result)).toContain('--version=1.300.0.20250101-000000')
    expect(withArgument(result, '--flavor')).toEqual([])
    expect(initOf(result)?.resources).toEqual({})
    const limited = readyDynaKube({ oneAgent: { applicationMonitoring: { initResources: { limits: { cpu: '1' } } } } })
    expect(initOf(inject(inputOf(limited, {}, NO_CSI)))?.resources).toEqual({ limits: { cpu: '1' } })
    const annotations = { 'oneagent.dynatrace.com/flavor': 'musl' }
    expect(argsOf(inject(inputOf(readyDynaKube(APPLICATION), { annotations }, NO_CSI)))).toContain('--flavor=musl')
  })

  it('by their image where nodes pull it: with enrichment even when that is off', () => {
    const result = inject(inputOf(imagePull, {}, NO_CSI))
    expect(initOf(result)?.image).toBe('registry.example.com/codemodules:1.300.0')
    expect(argsOf(result)[0]).toBe('--config-directory=/mnt/config')
    expect(argsOf(result)).toContain('--metadata-enrichment')
    expect(binOf(result)).toEqual({ name: 'oneagent-bin', emptyDir: {} })
  })

  it('by the CSI driver where it is installed, unless a pod chooses ephemeral and may choose', () => {
    const annotations = { 'oneagent.dynatrace.com/volume-type': 'ephemeral' }
    expect(binOf(inject(inputOf(imagePull)))).toHaveProperty('csi')
    expect(binOf(inject(inputOf(imagePull, { annotations })))).toHaveProperty('emptyDir')
    expect(binOf(inject(inputOf(cloudNative, { annotations })))).toHaveProperty('csi')
  })

  it.each([
    ['90s', '1m30s'],
    ['-5m', '10m0s'],
    ['soon', '10m0s'],
    ['2h', '2h0m0s'],
    ['15s', '15s'],
  ])('with a retry timeout of %s written as %s', (value, expected) => {
    const dynakube = readyDynaKube(CLOUD_NATIVE, { flags: { 'max-csi-mount-timeout': value } })
    expect(binOf(inject(inputOf(dynakube)))?.csi?.volumeAttributes?.retryTimeout).toBe(expected)
  })

  it.each([
    ['2Gi', { sizeLimit: '2Gi' }],
    ['1e100', { sizeLimit: '1e100' }],
    ['lots', {}],
    ['-1Gi', {}],
  ])('in an emptyDir with the size limit of the annotation %s, if it is valid', (size, expected) => {
    const annotations = { 'volume.dynatrace.com/oneagent-bin': size }
    const result = inject(inputOf(readyDynaKube(APPLICATION), { annotations }, NO_CSI))
    expect(binOf(result)?.emptyDir).toEqual(expected)
    expect(result.outcome).toBe('injected')
  })

  it('in the volume of the user when there is one of that name', () => {
    const volumes = [{ name: 'oneagent-bin', emptyDir: { medium: 'Memory' } }]
    const result = inject(inputOf(cloudNative, { spec: { volumes } }))
    expect(result.pod.spec.volumes?.filter(({ name }) => name === 'oneagent-bin')).toEqual(volumes)
  })

  it('never where the container mounts something else', () => {
    const volumeMounts = [{ name: 'mine', mountPath: '/opt/dynatrace/oneagent-paas' }]
    const containers = [app({ volumeMounts }), app({ name: 'side' })]
    const { pod } = inject(inputOf(cloudNative, { containers }))
    expect(pod.spec.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
      '/opt/dynatrace/oneagent-paas',
      '/var/lib/dynatrace',
    ])
    expect(pod.spec.containers[0]?.env).toBeUndefined()
    expect(pod.spec.containers[1]?.volumeMounts).toHaveLength(3)
  })
})

describe('arguments of the init container', () => {
  it('take technologies from the pod, else from the DynaKube', () => {
    const key = 'oneagent.dynatrace.com/technologies'
    const dynakube = readyDynaKube(CLOUD_NATIVE, { annotations: { [key]: 'java' } })
    expect(argsOf(inject(inputOf(dynakube)))).toContain('--technology=java')
    expect(argsOf(inject(inputOf(dynakube, { annotations: { [key]: 'php,nginx' } })))).toContain(
      '--technology=php,nginx',
    )
  })

  it.each([
    ['silent', 'fail', false],
    ['fail', 'silent', true],
    ['fail', undefined, false],
    [undefined, 'sometimes', true],
    [undefined, undefined, true],
  ])('suppress errors with the policy %s of the DynaKube and %s of the pod: %s', (ofDynaKube, ofPod, isSuppressed) => {
    const flags: Record<string, string> = ofDynaKube ? { 'injection-failure-policy': ofDynaKube } : {}
    const annotations: Record<string, string> = ofPod ? { 'oneagent.dynatrace.com/failure-policy': ofPod } : {}
    const result = inject(inputOf(readyDynaKube(CLOUD_NATIVE, { flags }), { annotations }))
    expect(argsOf(result).includes('--suppress-error')).toBe(isSuppressed)
  })

  it.each([
    [
      'registry.example.com/repo/img:tag@sha256:x',
      {
        'container_image.registry': 'registry.example.com',
        'container_image.repository': 'repo/img',
        'container_image.tags': 'tag',
        'container_image.digest': 'sha256:x',
      },
    ],
    ['php:fpm', { 'container_image.repository': 'php', 'container_image.tags': 'fpm' }],
    [
      'org/app:1',
      { 'container_image.registry': 'org', 'container_image.repository': 'app', 'container_image.tags': '1' },
    ],
    ['localhost:5000/a', { 'container_image.registry': 'localhost:5000', 'container_image.repository': 'a' }],
  ])('describe the image %s by its text', (image, expected) => {
    const result = inject(inputOf(enrichment, { containers: [app({ image })] }))
    const [argument = ''] = withArgument(result, '--attribute-container=')
    expect(JSON.parse(argument.slice('--attribute-container='.length))).toEqual({
      ...expected,
      'k8s.container.name': 'app',
    })
  })

  it('say what is known about the pod and its cluster', () => {
    const result = inject(inputOf(cloudNative))
    expect(withArgument(result, '--attribute=')).toEqual([
      '--attribute=k8s.pod.name=$(K8S_PODNAME)',
      '--attribute=k8s.pod.uid=$(K8S_PODUID)',
      '--attribute=k8s.node.name=$(K8S_NODE_NAME)',
      '--attribute=k8s.namespace.name=shop',
      '--attribute=k8s.cluster.uid=cluster-uid',
      '--attribute=k8s.cluster.name=production',
      '--attribute=dt.entity.kubernetes_cluster=KUBERNETES_CLUSTER-1',
      '--attribute=dt.kubernetes.cluster.id=cluster-uid',
    ])
  })
})

describe('the init container runs', () => {
  const contextOf = (input: ReturnType<typeof inputOf>) => initOf(inject(input))?.securityContext

  it('as 1001:1001 without privileges where nothing is said', () => {
    expect(contextOf(inputOf(cloudNative))).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      privileged: false,
      capabilities: { drop: ['ALL'] },
      runAsUser: 1001,
      runAsGroup: 1001,
      runAsNonRoot: true,
    })
  })

  it('as the user that OpenShift assigns', () => {
    const context = contextOf(inputOf(cloudNative, {}, { settings: { isOpenShift: true } }))
    expect(context).not.toHaveProperty('runAsUser')
    expect(context).toMatchObject({ runAsGroup: 1001, runAsNonRoot: true })
  })

  it.each([
    ['root when the pod does', { runAsUser: 0 }, undefined, { runAsUser: 0, runAsGroup: 1001, runAsNonRoot: false }],
    [
      'the user of the first container rather than that of the pod',
      { runAsUser: 0, runAsGroup: 0 },
      { runAsUser: 7 },
      { runAsUser: 7, runAsGroup: 0, runAsNonRoot: true },
    ],
  ])('as %s', (_, ofPod, ofContainer, expected) => {
    const containers = [app({ ...(ofContainer && { securityContext: ofContainer }) }), app({ name: 'side' })]
    expect(contextOf(inputOf(cloudNative, { containers, spec: { securityContext: ofPod } }))).toMatchObject(expected)
  })

  it('as root group on OpenShift without claiming not to be root', () => {
    const input = inputOf(
      cloudNative,
      { spec: { securityContext: { runAsGroup: 0 } } },
      { settings: { isOpenShift: true } },
    )
    expect(contextOf(input)).toMatchObject({ runAsGroup: 0, runAsNonRoot: false })
  })

  it('with a seccomp profile by the feature flag, and where the namespace would reject the pod without', () => {
    const profile = { seccompProfile: { type: 'RuntimeDefault' } }
    const flagged = readyDynaKube(CLOUD_NATIVE, { flags: { 'init-container-seccomp-profile': 'true' } })
    expect(contextOf(inputOf(flagged))).toMatchObject(profile)
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    expect(contextOf(inputOf(cloudNative, {}, { namespace: { labels } }))).toMatchObject(profile)
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

describe('split mounts', () => {
  const pathsOf = (result: ReturnType<typeof inject>) =>
    result.pod.spec.containers[0]?.volumeMounts
      ?.filter(({ name }) => name === 'dynatrace-config')
      .map((mount) => [mount.mountPath, mount.subPath])
  const ENRICHED = [
    ['/var/lib/dynatrace/enrichment/dt_metadata.json', 'app/enrichment/dt_metadata.json'],
    ['/var/lib/dynatrace/enrichment/dt_metadata.properties', 'app/enrichment/dt_metadata.properties'],
    ['/var/lib/dynatrace/enrichment/endpoint', 'app/enrichment/endpoint'],
  ]

  it('do not use /var/lib/dynatrace if it is mounted', () => {
    expect(pathsOf(inject(inputOf(both, { annotations: { 'dynatrace.com/split-mounts': 'TRUE' } })))).toEqual([
      ['/etc/ld.so.preload', 'oneagent/ld.so.preload'],
      ['/var/lib/dynatrace/oneagent', 'app/oneagent'],
      ...ENRICHED,
    ])
  })

  it('hold only enrichment beside a classic agent', () => {
    const classic = readyDynaKube({ oneAgent: { classicFullStack: {} }, ...ENRICHMENT })
    expect(pathsOf(inject(inputOf(classic)))).toEqual(ENRICHED)
  })
})

describe('variables of the user', () => {
  const LIBRARY = '/opt/dynatrace/oneagent-paas/agent/lib64/liboneagentproc.so'
  it.each([
    ['a', `a:${LIBRARY}`],
    ['a b', `a b ${LIBRARY}`],
    [LIBRARY, LIBRARY],
    ['', `:${LIBRARY}`],
  ])('keep what LD_PRELOAD "%s" loads', (value, expected) => {
    const containers = [app({ env: [{ name: 'LD_PRELOAD', value }] })]
    expect(envOf(inject(inputOf(cloudNative, { containers }))).LD_PRELOAD).toBe(expected)
  })

  it('load the library from an install path that ends in a slash', () => {
    const annotations = { 'oneagent.dynatrace.com/install-path': '/opt/mine/' }
    const { LD_PRELOAD } = envOf(inject(inputOf(cloudNative, { annotations })))
    expect(LD_PRELOAD).toBe('/opt/mine/agent/lib64/liboneagentproc.so')
  })

  it('keep an LD_PRELOAD with valueFrom unchanged', () => {
    const env = [{ name: 'LD_PRELOAD', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }]
    const { pod } = inject(inputOf(cloudNative, { containers: [app({ env })] }))
    expect(pod.spec.containers[0]?.env?.filter(({ name }) => name === 'LD_PRELOAD')).toEqual(env)
  })

  it('win over those of the webhook, except for the network zone', () => {
    const env = [
      { name: 'DT_STORAGE', value: '/mine' },
      { name: 'DT_DEPLOYMENT_METADATA', value: 'mine' },
    ]
    const zoned = readyDynaKube({ ...CLOUD_NATIVE, networkZone: 'zone-1' })
    expect(envOf(inject(inputOf(zoned, { containers: [app({ env })] })))).toMatchObject({
      DT_STORAGE: '/mine',
      DT_DEPLOYMENT_METADATA: 'mine',
      DT_NETWORK_ZONE: 'zone-1',
    })
  })
})

describe('version detection', () => {
  const detecting = readyDynaKube(CLOUD_NATIVE, { flags: { 'label-version-detection': 'true' } })
  const pathsOf = (annotations: Readonly<Record<string, string>>, env = app().env ?? []) => {
    const { pod } = inject(inputOf(detecting, { containers: [app({ env })] }, { namespace: { annotations } }))
    const variables = (pod.spec.containers[0]?.env ?? []).filter(({ name }) => name.startsWith('DT_RELEASE'))
    return Object.fromEntries(
      variables.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.fieldRef?.fieldPath]),
    )
  }
  const PRODUCT = "metadata.labels['app.kubernetes.io/part-of']"

  it('reads the usual labels', () => {
    expect(pathsOf({})).toEqual({
      DT_RELEASE_VERSION: "metadata.labels['app.kubernetes.io/version']",
      DT_RELEASE_PRODUCT: PRODUCT,
    })
  })

  it('follows the annotations of the namespace, and keeps variables of the container', () => {
    const annotations = {
      'mapping.release.dynatrace.com/version': "metadata.labels['version']",
      'mapping.release.dynatrace.com/stage': 'metadata.namespace',
      'mapping.release.dynatrace.com/build-version': "metadata.annotations['build']",
    }
    expect(pathsOf(annotations, [{ name: 'DT_RELEASE_STAGE', value: 'mine' }])).toEqual({
      DT_RELEASE_VERSION: "metadata.labels['version']",
      DT_RELEASE_PRODUCT: PRODUCT,
      DT_RELEASE_STAGE: 'mine',
      DT_RELEASE_BUILD_VERSION: "metadata.annotations['build']",
    })
  })

  it('ignores a path that would make the API server reject the pod', () => {
    expect(pathsOf({ 'mapping.release.dynatrace.com/version': 'the version' })).toEqual({ DT_RELEASE_PRODUCT: PRODUCT })
  })
})

describe('metadata of the namespace', () => {
  const rules = [
    { type: 'LABEL', source: 'a', target: 'dt.x' },
    { type: 'LABEL', source: 'b' },
    { type: 'ANNOTATION', source: 'c' },
  ]
  const ruled = readyDynaKube(ENRICHMENT, { status: { metadataEnrichment: { rules } } })

  it('follows the rules of the tenant', () => {
    const result = inject(inputOf(ruled, {}, { namespace: { labels: { a: '1', b: '<2>' }, annotations: { c: '3' } } }))
    expect(result.pod.metadata.annotations).toMatchObject({
      'metadata.dynatrace.com/dt.x': '1',
      'metadata.dynatrace.com':
        '{"dt.x":"1","k8s.namespace.annotation.c":"3","k8s.namespace.label.b":"\\u003c2\\u003e"}',
    })
    expect(argsOf(result)).toEqual(
      expect.arrayContaining([
        '--attribute=dt.x=1',
        '--attribute=k8s.namespace.label.b=<2>',
        '--attribute=k8s.namespace.annotation.c=3',
      ]),
    )
  })

  it('yields to annotations of the pod, and comes from annotations only', () => {
    const key = 'metadata.dynatrace.com/k'
    const result = inject(
      inputOf(
        enrichment,
        { annotations: { [key]: 'pod' } },
        { namespace: { annotations: { [key]: 'namespace' }, labels: { 'metadata.dynatrace.com/l': 'label' } } },
      ),
    )
    expect(result.pod.metadata.annotations).toMatchObject({ [key]: 'pod', 'metadata.dynatrace.com': '{"k":"pod"}' })
    expect(argsOf(result)).toContain('--attribute=k=pod')
    expect(result.pod.metadata.annotations).not.toHaveProperty(['metadata.dynatrace.com/l'])
  })

  it('does not become an annotation that the API server rejects', () => {
    const odd = readyDynaKube(ENRICHMENT, {
      status: { metadataEnrichment: { rules: [{ type: 'LABEL', source: 'a', target: 'not a name!' }] } },
    })
    const result = inject(inputOf(odd, {}, { namespace: { labels: { a: '1' } } }))
    expect(Object.keys(result.pod.metadata.annotations ?? {}).join()).not.toContain('not a name')
    expect(argsOf(result)).toContain('--attribute=not a name!=1')
  })

  it('is left out together with everything else when the annotations would grow too large', () => {
    const annotations = { big: 'x'.repeat(256 * 1024 - 4) }
    const input = inputOf(both, { annotations })
    const result = inject(input)
    expect(result.pod).toBe(input.pod)
    expect(result.failures).toMatchObject([{ reason: 'AnnotationsTooLarge' }])
  })

  it('beats the computed workload, because its argument comes later', () => {
    const annotations = {
      'metadata.dynatrace.com/k8s.workload.name': 'mine',
      'metadata.dynatrace.com/dt.kubernetes.workload.name': 'old',
    }
    const names = withArgument(inject(inputOf(enrichment, { annotations })), '--attribute=').filter((argument) =>
      argument.includes('workload.name'),
    )
    expect(names).toEqual([
      '--attribute=k8s.workload.name=shop',
      '--attribute=dt.kubernetes.workload.name=old',
      '--attribute=k8s.workload.name=mine',
    ])
  })
})

it('facts that were not looked up count as missing', () => {
  expect(inject(inputOf(cloudNative), { ...FACTS, secrets: new Map() }).outcome).toBe('notInjected')
})
