/** The init container: its arguments, and the user it runs as. */
import { describe, expect, it } from 'vitest'
import {
  app,
  argsOf,
  CLOUD_NATIVE,
  cloudNative,
  enrichment,
  initOf,
  inject,
  inputOf,
  readyDynaKube,
  withArgument,
} from './testing/build.ts'

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
