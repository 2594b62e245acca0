/** What the chart renders for the webhook, without a cluster. */
import type { Deployment, UnknownObject, ValidatingWebhookConfiguration } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { crdManifests, validatingConfiguration, WEBHOOK_NAME } from '../../src/index.ts'
import { helmPath, renderChart } from '../support/render-chart.ts'

const render = (...values: string[]) => renderChart('observability', values)

// The tests say themselves what they expect of the rendered objects.
const find = <T extends UnknownObject>(objects: readonly UnknownObject[], kind: string) =>
  objects.find((object) => object.kind === kind) as T | undefined
const deploymentOf = (objects: readonly UnknownObject[]) => {
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as (UnknownObject & Deployment) | undefined
  const pod = deployment?.spec?.template.spec
  const container = pod?.containers[0]
  const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]))
  return { deployment, pod, container, env }
}

describe.skipIf(helmPath === undefined)('the chart (skipped where helm is neither carried by npm nor on PATH)', () => {
  it('names everything of the webhook alike, in the namespace of the release', async () => {
    const objects = await render('installCRD=false')
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual(
      [
        'ClusterRole',
        'ClusterRoleBinding',
        'Deployment',
        'PodDisruptionBudget',
        'Role',
        'RoleBinding',
        'Service',
        'ServiceAccount',
        'ValidatingWebhookConfiguration',
      ].map((kind) => `${kind} ${WEBHOOK_NAME}`),
    )
    const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace))
    expect(namespaces).toEqual(new Set([undefined, 'observability']))
  })

  it('registers the webhooks as the code means them, and leaves the failure policy to the API (42)', async () => {
    const rendered = find<UnknownObject & ValidatingWebhookConfiguration>(
      await render(),
      'ValidatingWebhookConfiguration',
    )
    const service = (path: string) => ({ service: { namespace: 'observability', name: WEBHOOK_NAME, path } })
    expect(rendered?.webhooks).toEqual(validatingConfiguration(service).webhooks)
    expect(JSON.stringify(rendered)).not.toContain('failurePolicy')
  })

  it('carries the CRDs, converted in the namespace of the release and labelled with the version', async () => {
    const crds = (await render()).filter(({ kind }) => kind === 'CustomResourceDefinition')
    expect(crds).toHaveLength(2)
    for (const [index, crd] of crds.entries()) {
      expect(crd.spec).toEqual(crdManifests('observability')[index]?.spec)
      expect(crd.metadata.labels).toMatchObject({ 'app.kubernetes.io/version': '0.1.0' })
    }
  })

  it('runs two replicas apart from each other, or one (41)', async () => {
    const two = await render()
    expect(deploymentOf(two).deployment?.spec?.replicas).toBe(2)
    expect(deploymentOf(two).pod?.topologySpreadConstraints).toHaveLength(2)
    expect(find(two, 'PodDisruptionBudget')?.spec).toMatchObject({ minAvailable: 1 })
    const one = await render('webhook.highAvailability=false')
    expect(deploymentOf(one).deployment?.spec?.replicas).toBe(1)
    expect(deploymentOf(one).pod?.topologySpreadConstraints).toBeUndefined()
    expect(find(one, 'PodDisruptionBudget')).toBeUndefined()
  })

  it('runs it without any privilege', async () => {
    const { container, pod } = deploymentOf(await render())
    expect(container?.securityContext).toEqual({
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: 1001,
      runAsGroup: 1001,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(pod).not.toHaveProperty('hostNetwork')
  })

  it('tells the server its ports and what was installed (3)', async () => {
    const { container, env } = deploymentOf(
      await render('webhook.ports.server=9443', 'webhook.ports.metrics=9383', 'csidriver.enabled=false'),
    )
    expect(env).toMatchObject({
      WEBHOOK_PORT: '9443',
      METRICS_BIND_ADDRESS: ':9383',
      HEALTH_PROBE_BIND_ADDRESS: ':10080',
      NODE_OPTIONS: '--max-old-space-size=154',
    })
    expect(env['modules.json']).toBe(
      `${JSON.stringify(
        {
          csiDriver: false,
          activeGate: true,
          oneAgent: true,
          extensions: true,
          logMonitoring: true,
          edgeConnect: true,
          supportability: true,
          kubernetesMonitoring: true,
          kspm: true,
        },
        undefined,
        2,
      )}\n`,
    )
    expect(container?.args).toEqual(['webhook-server', '--certs-dir=/tmp/k8s-webhook-server/serving-certs/'])
    expect(container?.ports?.map(({ name, containerPort }) => [name, containerPort])).toEqual([
      ['server-port', 9443],
      ['livez', 10_080],
      ['metrics', 9383],
    ])
  })

  it.each([
    ['rbac.activeGate.create=false', /rbac\.kubernetesMonitoring\.create.*rbac\.activeGate\.create/],
    ['rbac.kubernetesMonitoring.create=false', /rbac\.kspm\.create.*rbac\.kubernetesMonitoring\.create/],
  ])('refuses %s and names both values (5)', async (value, message) => {
    await expect(render(value)).rejects.toThrow(message)
  })

  it.each([
    ['the product’s own', [], [], 'public.ecr.aws/dynatrace/dynatrace-operator:v0.1.0'],
    ['image', ['image=a/b:1', 'imageRef.repository=c/d'], [], 'a/b:1'],
    ['imageRef', ['imageRef.repository=c/d'], [], 'c/d:v0.1.0'],
    ['imageRef with a tag', ['imageRef.repository=c/d', 'imageRef.tag=2'], [], 'c/d:2'],
    [
      'that of OpenShift',
      [],
      ['--api-versions', 'security.openshift.io/v1'],
      'registry.connect.redhat.com/dynatrace/dynatrace-operator:v0.1.0',
    ],
  ])('takes the image from %s (4, 6)', async (_, values, flags, image) => {
    expect(deploymentOf(await renderChart('observability', values, flags)).container?.image).toBe(image)
  })

  it('allows the use of security context constraints on OpenShift only (4)', async () => {
    const rules = async (...values: string[]) => JSON.stringify(find(await render(...values), 'ClusterRole'))
    expect(await rules()).not.toContain('securitycontextconstraints')
    expect(await rules('platform=openshift')).toContain('securitycontextconstraints')
    expect(await rules('olm=true')).toContain('securitycontextconstraints')
  })

  it('passes on debug logs and the pull secret (48, 53)', async () => {
    const { env, pod } = deploymentOf(await render('debugLogs=true', 'customPullSecret=s'))
    expect(env.LOG_LEVEL).toBe('debug')
    expect(pod?.imagePullSecrets).toEqual([{ name: 's' }])
    expect(deploymentOf(await render()).env).not.toHaveProperty('LOG_LEVEL')
  })

  it('mounts a certificate of cert-manager instead, and asks it to be trusted', async () => {
    const objects = await render('webhook.certificateSecretName=tls')
    const { env, pod } = deploymentOf(objects)
    expect(env.WEBHOOK_CERTIFICATES).toBe('provided')
    expect(pod?.volumes).toEqual([{ name: 'certs-dir', secret: { secretName: 'tls' } }])
    const trusting = objects.filter(
      ({ metadata }) => metadata.annotations?.['cert-manager.io/inject-ca-from-secret'] === 'observability/tls',
    )
    expect(trusting.map(({ kind }) => kind).sort()).toEqual([
      'CustomResourceDefinition',
      'CustomResourceDefinition',
      'ValidatingWebhookConfiguration',
    ])
  })
})
