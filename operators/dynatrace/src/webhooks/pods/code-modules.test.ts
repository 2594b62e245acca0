/** Code modules in a pod: how they get there, their mounts and their variables. */
import { describe, expect, it } from 'vitest'
import {
  APPLICATION,
  app,
  argsOf,
  both,
  CLOUD_NATIVE,
  cloudNative,
  ENRICHMENT,
  envOf,
  initOf,
  inject,
  inputOf,
  NO_CSI,
  readyDynaKube,
  withArgument,
} from './testing/build.ts'

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
    ['+.5Gi', { sizeLimit: '+.5Gi' }],
    ['lots', {}],
    ['', {}],
    ['-1Gi', {}],
    ['1 Gi', {}],
    ['1Gi ', {}],
    ['Gi', {}],
    // Calculating with these would stop the webhook for minutes.
    ['1e99999999', {}],
    ['1e-99999999', {}],
    ['9e2147483647', {}],
  ])('in an emptyDir with the size limit of the annotation %s, if it is valid', (size, expected) => {
    const annotations = { 'volume.dynatrace.com/oneagent-bin': size }
    const result = inject(inputOf(readyDynaKube(APPLICATION), { annotations }, NO_CSI))
    expect(binOf(result)?.emptyDir).toEqual(expected)
    expect(result.outcome).toBe('injected')
  })

  it.each([
    ['an emptyDir', { emptyDir: { medium: 'Memory' } }],
    ['one of our CSI driver', { csi: { driver: 'csi.oneagent.dynatrace.com', volumeAttributes: { mode: 'app' } } }],
  ])('in a volume of that name when the pod has %s', (_, source) => {
    const volumes = [{ name: 'oneagent-bin', ...source }]
    const result = inject(inputOf(cloudNative, { spec: { volumes } }))
    expect(result.pod.spec.volumes?.filter(({ name }) => name === 'oneagent-bin')).toEqual(volumes)
    expect(result.outcome).toBe('injected')
  })

  it.each([
    ['/opt/mine', '/opt/mine'],
    ['/opt/mine/', '/opt/mine'],
    ['', '/opt/dynatrace/oneagent-paas'],
  ])('at the install path "%s" as %s', (path, expected) => {
    const annotations = { 'oneagent.dynatrace.com/install-path': path }
    const result = inject(inputOf(cloudNative, { annotations }))
    expect(result.pod.spec.containers[0]?.volumeMounts?.[0]?.mountPath).toBe(expected)
    expect(argsOf(result)).toContain(`--install-path=${expected}`)
  })

  it.each([
    '/a:/b',
    '/',
    '//',
    '/a b',
    '/a\tb',
    '/a,b',
    '/a/../b',
    '/a/./b',
    '/a//b',
    '/a//',
    'a',
    './a',
    '/a\0',
    '/..',
  ])('not at all at the install path %j, which would load something else or hide files', (path) => {
    const input = inputOf(both, { annotations: { 'oneagent.dynatrace.com/install-path': path } })
    const { pod, failures, outcome } = inject(input)
    expect(outcome).toBe('notInjected')
    expect(pod.spec).toBe(input.pod.spec)
    expect(pod.metadata.annotations).toMatchObject({
      'oneagent.dynatrace.com/injected': 'false',
      'oneagent.dynatrace.com/reason': 'InvalidInstallPath',
    })
    expect(failures[0]?.message).toContain('oneagent.dynatrace.com/install-path')
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
