/** What the chart renders for the process of the operator, and for the Job of the same image. */
import type { UnknownObject } from '@reeve/kube'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseModules } from '../../src/api/validation/modules.ts'
import { WEBHOOK_NAME } from '../../src/index.ts'
import { operatorSettings } from '../../src/operator-settings.ts'
import { helmPath } from '../support/render-chart.ts'
import { deploymentOf, find } from './support/find.ts'
import { NAMESPACE, renderWithoutCrds } from './support/render.ts'

const OPERATOR = 'dynatrace-operator'
const render = (...values: string[]) => renderWithoutCrds(values)
const operatorOf = async (...values: string[]) => deploymentOf(await render(...values), OPERATOR)

interface JobPod {
  readonly spec: {
    readonly restartPolicy: string
    readonly imagePullSecrets?: unknown
    readonly securityContext?: { readonly appArmorProfile?: unknown }
    readonly tolerations?: unknown
    readonly containers: readonly Readonly<Record<string, unknown>>[]
  }
}
// The chart's Job has a pod template; the tests say what is in it.
const jobPod = (objects: readonly UnknownObject[]) =>
  (find(objects, 'Job', 'dynatrace-operator-crd-storage-migration')?.spec as { template: JobPod } | undefined)?.template
    .spec

describe.skipIf(helmPath === undefined)('the operator of the chart (skipped without helm)', () => {
  let all: readonly UnknownObject[]
  beforeAll(async () => {
    all = await render()
  })

  it('is one pod, selected by the name of the release, that is never injected', () => {
    const { deployment, template } = deploymentOf(all, OPERATOR)
    expect(deployment?.spec).toMatchObject({
      replicas: 1,
      revisionHistoryLimit: 1,
      strategy: { type: 'RollingUpdate' },
      selector: { matchLabels: { name: OPERATOR } },
    })
    expect(template?.metadata?.labels).toMatchObject({ name: OPERATOR, 'app.kubernetes.io/component': 'operator' })
    expect(template?.metadata?.annotations).toEqual({ 'dynatrace.com/inject': 'false' })
  })

  it('runs the subcommand with ports and probes that the process has', () => {
    const { container } = deploymentOf(all, OPERATOR)
    expect(container).toMatchObject({
      name: 'operator',
      args: ['operator'],
      ports: [
        { name: 'livez', containerPort: 10_080 },
        { name: 'metrics', containerPort: 8080 },
      ],
      livenessProbe: {
        httpGet: { path: '/livez', port: 'livez', scheme: 'HTTP' },
        initialDelaySeconds: 15,
        periodSeconds: 10,
        timeoutSeconds: 5,
      },
      startupProbe: {
        exec: { command: ['/usr/local/bin/dynatrace-operator', 'startup-probe'] },
        periodSeconds: 10,
        // On a busy node one slow probe must not restart an operator that is still starting.
        timeoutSeconds: 10,
        failureThreshold: 6,
      },
    })
  })

  it('passes the settings of the process as environment variables', () => {
    const { container, env } = deploymentOf(all, OPERATOR)
    expect(container?.env?.filter(({ valueFrom }) => valueFrom).map(({ name }) => name)).toEqual([
      'POD_NAMESPACE',
      'POD_NAME',
    ])
    const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined))
    expect(given).toEqual({
      DT_OPERATOR_IMAGE: container?.image,
      DT_HOST_AVAILABILITY_DETECTION: 'true',
      DT_CRD_STORAGE_MIGRATION: 'true',
      LEADER_ELECTION_LEASE_DURATION: '30',
      LEADER_ELECTION_RENEW_DEADLINE: '20',
      LEADER_ELECTION_RETRY_PERIOD: '6',
      APP_VERSION: '0.1.0',
      NODE_OPTIONS: '--max-old-space-size=192',
      'modules.json': expect.stringContaining('"csiDriver": true'),
    })
    expect(operatorSettings({ ...given, POD_NAMESPACE: NAMESPACE })).toMatchObject({
      detectsHostAvailability: true,
      migratesStorage: true,
      release: { version: '0.1.0' },
      election: { leaseDurationMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 6_000 },
      image: container?.image,
    })
  })

  it('passes on what is switched off', async () => {
    const { env } = await operatorOf(
      'csidriver.enabled=false',
      'rbac.edgeConnect.create=false',
      'operator.hostAvailabilityDetection=false',
      'operator.crdStorageMigrationInitManager=false',
      'operator.leaderElection.leaseDurationSeconds=60',
    )
    expect(env).toMatchObject({
      DT_HOST_AVAILABILITY_DETECTION: 'false',
      DT_CRD_STORAGE_MIGRATION: 'false',
      LEADER_ELECTION_LEASE_DURATION: '60',
    })
    expect(parseModules(env['modules.json'])).toMatchObject({ csiDriver: false, edgeConnect: false, activeGate: true })
  })

  it.each([
    ['420Mi', '--max-old-space-size=252'],
    ['420M', '--max-old-space-size=241'],
    ['1Gi', '--max-old-space-size=615'],
    ['1.5G', '--max-old-space-size=859'],
  ])('bounds the heap by the memory limit %s', async (limit, options) => {
    expect((await operatorOf(`operator.limits.memory=${limit}`)).env.NODE_OPTIONS).toBe(options)
  })

  it('leaves the heap unbounded without a limit', async () => {
    const { env, container } = await operatorOf('operator.limits=null', 'operator.requests=null')
    expect(env).not.toHaveProperty('NODE_OPTIONS')
    expect(container?.resources).toEqual({})
  })

  it('leaves certificates to another provider', async () => {
    expect((await operatorOf('webhook.certificateSecretName=tls')).env.WEBHOOK_CERTIFICATES).toBe('provided')
    expect(deploymentOf(all, OPERATOR).env).not.toHaveProperty('WEBHOOK_CERTIFICATES')
  })

  it('has no privilege', () => {
    const { container, pod } = deploymentOf(all, OPERATOR)
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
    expect(pod?.securityContext).toEqual({ seccompProfile: { type: 'RuntimeDefault' } })
    expect(pod?.volumes).toBeUndefined()
  })

  it('runs where there is an image for it, on tainted architectures too', async () => {
    const { pod } = await operatorOf('operator.tolerations[0].key=mine', 'operator.nodeSelector.pool=infra')
    expect(pod?.nodeSelector).toEqual({ pool: 'infra' })
    expect(pod?.tolerations?.map(({ key, value }) => value ?? key)).toEqual([
      'mine',
      'arm64',
      'amd64',
      'ppc64le',
      's390x',
    ])
    expect(
      pod?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]
        ?.matchExpressions,
    ).toEqual([
      { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64', 'ppc64le', 's390x'] },
      { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
    ])
  })

  it('has the labels and annotations of the values', async () => {
    const { deployment, template } = await operatorOf('operator.labels.team=a', 'operator.annotations.note=b')
    expect(deployment?.metadata.labels).toMatchObject({ team: 'a' })
    expect(deployment?.metadata.annotations).toEqual({ note: 'b' })
    expect(template?.metadata?.labels).toMatchObject({ team: 'a' })
    expect(template?.metadata?.annotations).toEqual({ 'dynatrace.com/inject': 'false', note: 'b' })
  })

  it.each([
    ['1.30.0', { hasAnnotation: true, profile: undefined }],
    ['1.31.0', { hasAnnotation: false, profile: { type: 'RuntimeDefault' } }],
    ['1.35.1-gke.100', { hasAnnotation: false, profile: { type: 'RuntimeDefault' } }],
  ])('runs under the AppArmor profile of the runtime in the way of Kubernetes %s', async (version, expected) => {
    const values = ['operator.apparmor=true', 'webhook.apparmor=true']
    const objects = await renderWithoutCrds(values, [`--kube-version=${version}`])
    for (const name of [OPERATOR, WEBHOOK_NAME]) {
      const { template, pod } = deploymentOf(objects, name)
      const hasAnnotation = Object.keys(template?.metadata?.annotations ?? {}).some((key) => key.includes('apparmor'))
      const { appArmorProfile: profile, seccompProfile } = pod?.securityContext ?? {}
      expect({ hasAnnotation, profile }).toEqual(expected)
      expect(seccompProfile).toEqual({ type: 'RuntimeDefault' })
    }
    expect(jobPod(objects)?.securityContext?.appArmorProfile).toEqual(expected.profile)
  })

  it.each([
    ['as the values say', ['imageRef.repository=example.com/d', 'imageRef.pullPolicy=Never'], 'Never'],
    ['always from a registry', ['imageRef.repository=example.com/d'], 'Always'],
    ['never if there is no repository', [], 'IfNotPresent'],
  ])('pulls its image %s; so do webhook and migration', async (_, values, policy) => {
    const objects = await render(...values)
    for (const name of [OPERATOR, WEBHOOK_NAME]) {
      expect(deploymentOf(objects, name).container?.imagePullPolicy).toBe(policy)
    }
    expect(jobPod(objects)?.containers[0]).toMatchObject({ imagePullPolicy: policy })
  })

  it('logs more and pulls with a Secret as configured; the migration only pulls with it', async () => {
    const objects = await render('debugLogs=true', 'customPullSecret=s')
    const { env, pod } = deploymentOf(objects, OPERATOR)
    expect(env.LOG_LEVEL).toBe('debug')
    expect(pod?.imagePullSecrets).toEqual([{ name: 's' }])
    expect(jobPod(objects)?.imagePullSecrets).toEqual([{ name: 's' }])
    expect(JSON.stringify(jobPod(objects))).not.toContain('LOG_LEVEL')
    expect(deploymentOf(all, OPERATOR).env).not.toHaveProperty('LOG_LEVEL')
  })

  it('has a migration of the same image and restrictions, which ends', () => {
    const { container } = deploymentOf(all, OPERATOR)
    const pod = jobPod(all)
    expect(find(all, 'Job', 'dynatrace-operator-crd-storage-migration')?.spec).toMatchObject({ backoffLimit: 3 })
    expect(pod?.restartPolicy).toBe('OnFailure')
    expect(pod?.containers).toEqual([
      {
        name: 'crd-storage-migration',
        image: container?.image,
        imagePullPolicy: container?.imagePullPolicy,
        args: ['crd-storage-migration', `--namespace=${NAMESPACE}`],
        resources: container?.resources,
        securityContext: container?.securityContext,
      },
    ])
    expect(pod).not.toHaveProperty('tolerations')
  })
})
