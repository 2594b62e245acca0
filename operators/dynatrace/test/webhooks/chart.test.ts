/** What the chart renders for the webhook, without a cluster. */
import type { MutatingWebhook, UnknownObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { crdManifests, mutatingConfiguration, validatingConfiguration, WEBHOOK_NAME } from '../../src/index.ts'
import { deploymentOf, find, namesOf, rulesOf } from '../chart/support/find.ts'
import { NAMESPACE, renderWithoutCrds } from '../chart/support/render.ts'
import { helmPath, renderChart } from '../support/render-chart.ts'

const render = (...values: string[]) => renderWithoutCrds(values)
const renderWithCrds = (...values: string[]) => renderChart(NAMESPACE, values)

/** What the chart renders for the webhook, CRDs apart. */
const ofWebhook = (objects: readonly UnknownObject[]) =>
  objects.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'webhook')
const webhookOf = (objects: readonly UnknownObject[]) => deploymentOf(objects, WEBHOOK_NAME)

describe.skipIf(helmPath === undefined)('the chart (skipped without helm)', () => {
  it('names everything of the webhook alike, in the namespace of the release', async () => {
    const objects = ofWebhook(await render())
    expect(namesOf(objects)).toEqual(
      [
        'ClusterRole',
        'ClusterRoleBinding',
        'Deployment',
        'MutatingWebhookConfiguration',
        'PodDisruptionBudget',
        'Role',
        'RoleBinding',
        'Service',
        'ServiceAccount',
        'ValidatingAdmissionPolicy',
        'ValidatingAdmissionPolicyBinding',
        'ValidatingWebhookConfiguration',
      ].map((kind) => `${kind} ${WEBHOOK_NAME}`),
    )
    const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace))
    expect(namespaces).toEqual(new Set([undefined, NAMESPACE]))
  })

  it('limits the Secrets that it creates by a policy, where the API server knows policies', async () => {
    const of = async (version: string) =>
      namesOf(await renderWithoutCrds([], ['--kube-version', version])).filter((name) => name.includes('Policy'))
    const policies = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']
    expect(await of('1.29.9')).toEqual([])
    expect(await of('1.30.0-gke.1')).toEqual(policies.map((kind) => `${kind} ${WEBHOOK_NAME}`))
  })

  it('registers the webhooks as the code means them, and leaves the failure policy to the API', async () => {
    const rendered = find(await render(), 'ValidatingWebhookConfiguration', WEBHOOK_NAME)
    const service = (path: string) => ({ service: { namespace: NAMESPACE, name: WEBHOOK_NAME, path } })
    expect(rendered?.webhooks).toEqual(validatingConfiguration(service).webhooks)
    expect(JSON.stringify(rendered)).not.toContain('failurePolicy')
  })

  it('registers the webhooks for pods and namespaces as the code means them', async () => {
    const rendered = find(await render(), 'MutatingWebhookConfiguration', WEBHOOK_NAME)
    const service = (path: string) => ({ service: { namespace: NAMESPACE, name: WEBHOOK_NAME, path } })
    expect(rendered?.webhooks).toEqual(mutatingConfiguration(service).webhooks)
  })

  it('has the configured failure policy and timeout for pods and namespaces', async () => {
    const settings = async (...values: string[]) => {
      const rendered = find(await render(...values), 'MutatingWebhookConfiguration', WEBHOOK_NAME)
      // Webhook configurations have webhooks.
      const webhooks = rendered?.webhooks as readonly MutatingWebhook[]
      return webhooks.map(({ failurePolicy, timeoutSeconds }) => [failurePolicy, timeoutSeconds])
    }
    expect(await settings()).toEqual([
      ['Ignore', 10],
      ['Ignore', 10],
    ])
    expect(
      await settings('webhook.mutatingWebhook.failurePolicy=Fail', 'webhook.mutatingWebhook.timeoutSeconds=3'),
    ).toEqual([
      ['Fail', 3],
      ['Fail', 3],
    ])
  })

  it('carries the CRDs, converted in the namespace of the release and labelled with the version', async () => {
    const crds = (await renderWithCrds()).filter(({ kind }) => kind === 'CustomResourceDefinition')
    expect(crds).toHaveLength(2)
    for (const [index, crd] of crds.entries()) {
      expect(crd.spec).toEqual(crdManifests(NAMESPACE)[index]?.spec)
      expect(crd.metadata.labels).toMatchObject({ 'app.kubernetes.io/version': '0.1.0' })
    }
  })

  it('runs two replicas apart from each other, or one', async () => {
    const two = await render()
    expect(webhookOf(two).deployment?.spec?.replicas).toBe(2)
    expect(webhookOf(two).pod?.topologySpreadConstraints).toHaveLength(2)
    expect(find(two, 'PodDisruptionBudget', WEBHOOK_NAME)?.spec).toMatchObject({ minAvailable: 1 })
    const one = await render('webhook.highAvailability=false')
    expect(webhookOf(one).deployment?.spec?.replicas).toBe(1)
    expect(webhookOf(one).pod?.topologySpreadConstraints).toBeUndefined()
    expect(find(one, 'PodDisruptionBudget', WEBHOOK_NAME)).toBeUndefined()
  })

  it('gives it two minutes to start on a busy node before the kubelet restarts it', async () => {
    const { startupProbe, livenessProbe, readinessProbe } = webhookOf(await render()).container ?? {}
    expect(startupProbe).toEqual({
      httpGet: { path: '/livez', port: 'livez', scheme: 'HTTP' },
      periodSeconds: 2,
      timeoutSeconds: 2,
      failureThreshold: 60,
    })
    // They begin after the startup probe has succeeded: a delay would only keep it out of its Service.
    for (const probe of [livenessProbe, readinessProbe]) expect(probe).not.toHaveProperty('initialDelaySeconds')
  })

  it('runs it without any privilege', async () => {
    const { container, pod } = webhookOf(await render())
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

  it('passes ports and installed modules to the server', async () => {
    const { container, env } = webhookOf(
      await render('webhook.ports.server=9443', 'webhook.ports.metrics=9383', 'csidriver.enabled=false'),
    )
    expect(env).toMatchObject({
      WEBHOOK_PORT: '9443',
      METRICS_BIND_ADDRESS: ':9383',
      HEALTH_PROBE_BIND_ADDRESS: ':10080',
      NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=154',
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
  ])('refuses %s and names both values', async (value, message) => {
    await expect(render(value)).rejects.toThrow(message)
  })

  it.each([
    ['no registry by default', [], [], 'localhost/dynatrace-operator:v0.1.0'],
    ['image', ['image=a/b:1', 'imageRef.repository=c/d'], [], 'a/b:1'],
    ['imageRef', ['imageRef.repository=c/d'], [], 'c/d:v0.1.0'],
    ['imageRef with a tag', ['imageRef.repository=c/d', 'imageRef.tag=2'], [], 'c/d:2'],
    [
      'no registry on OpenShift',
      [],
      ['--api-versions', 'security.openshift.io/v1'],
      'localhost/dynatrace-operator:v0.1.0',
    ],
    ['no registry in a marketplace', ['platform=google-marketplace'], [], 'localhost/dynatrace-operator:v0.1.0'],
  ])('takes the image from %s', async (_, values, flags, image) => {
    expect(webhookOf(await renderWithoutCrds(values, flags)).container?.image).toBe(image)
  })

  it('allows the use of security context constraints on OpenShift only', async () => {
    const rules = async (...values: string[]) =>
      JSON.stringify(rulesOf(await render(...values), 'ClusterRole', WEBHOOK_NAME))
    expect(await rules()).not.toContain('securitycontextconstraints')
    expect(await rules('platform=openshift')).toContain('securitycontextconstraints')
    expect(await rules('olm=true')).toContain('securitycontextconstraints')
  })

  it('leaves the sizes of its heap to V8 without a memory limit', async () => {
    const { env } = webhookOf(await render('webhook.limits=null'))
    expect(env).not.toHaveProperty('NODE_OPTIONS')
  })

  it('passes on debug logs and the pull secret', async () => {
    const { env, pod } = webhookOf(await render('debugLogs=true', 'customPullSecret=s'))
    expect(env.LOG_LEVEL).toBe('debug')
    expect(pod?.imagePullSecrets).toEqual([{ name: 's' }])
    expect(webhookOf(await render()).env).not.toHaveProperty('LOG_LEVEL')
  })

  it('mounts a certificate of cert-manager instead, and has it trusted', async () => {
    const objects = await renderWithCrds('webhook.certificateSecretName=tls')
    const { env, pod } = webhookOf(objects)
    expect(env.WEBHOOK_CERTIFICATES).toBe('provided')
    expect(pod?.volumes).toEqual([{ name: 'certs-dir', secret: { secretName: 'tls' } }])
    const trusting = objects.filter(
      ({ metadata }) => metadata.annotations?.['cert-manager.io/inject-ca-from-secret'] === `${NAMESPACE}/tls`,
    )
    expect(trusting.map(({ kind }) => kind).sort()).toEqual([
      'CustomResourceDefinition',
      'CustomResourceDefinition',
      'MutatingWebhookConfiguration',
      'ValidatingWebhookConfiguration',
    ])
  })
})
