/** Pods and namespaces that go through the webhooks of a cluster, whose account has the rights of the chart. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  connect,
  Deployments,
  Events,
  isNotFound,
  type KubeClient,
  type MutatingWebhook,
  type MutatingWebhookConfiguration,
  MutatingWebhookConfigurations,
  Namespaces,
  type OwnerReference,
  type Pod,
  Pods,
  Secrets,
  ServiceAccounts,
  type UnknownObject,
} from '@reeve/kube'
import { mutate, mutatingWebhook } from '@reeve/runtime'
import { CertificateHolder, issueAuthority, issueServing } from '@reeve/runtime/certificates'
import { WebhookRouter, WebhookServer } from '@reeve/runtime/webhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ALL_MODULES } from '../../../src/api/validation/modules.ts'
import { encodeSecret } from '../../../src/controllers/rendering/secret-data.ts'
import { createWebhookServer, type DynaKube, type DynaKubeSpec, DynaKubes, WEBHOOK_NAME } from '../../../src/index.ts'
import { UsedRights } from '../../chart/support/used-rights.ts'
import { helmPath, renderChart } from '../../support/render-chart.ts'
import type { WebhookStage } from '../../support/webhook-stage.ts'
import { RIGHTS, tokenKubeconfig } from './chart.ts'

const INSTANCE = 'dynakube.internal.dynatrace.com/instance'
const MARKER = 'dynatrace.com/updated-via-operator'
const CONFIG = 'dynatrace-bootstrapper-config'
const IMAGE = 'registry.example.com/operator:1'
const HOUR_MS = 3_600_000

/** The suite; `at` gives the stage once it is set. */
export function injectionSuite(at: () => WebhookStage): void {
  describe.skipIf(helmPath === undefined)('injection (skipped without helm)', () => {
    let folder: string
    let rendered: readonly UnknownObject[]
    let account: KubeClient
    let rights: UsedRights
    let server: WebhookServer
    let running: Promise<void>
    let stop: AbortController
    /** Namespaces of this suite only: other suites share the cluster. */
    let suite: Readonly<Record<string, string>>
    let main: string
    const created: string[] = []

    const serve = async () => {
      stop = new AbortController()
      const webhooks = createWebhookServer({
        client: account,
        namespace: at().namespace,
        modules: ALL_MODULES,
        injection: { image: IMAGE, isOpenShift: false, isManagedByOlm: false },
        address: { host: '::', port: server === undefined ? 0 : (await server.address()).port },
        certificates: {
          areProvided: false,
          files: { directory: join(folder, 'certs'), certificate: 'tls.crt', privateKey: 'tls.key' },
        },
      })
      server = webhooks.server
      running = webhooks.manager.run(stop.signal)
      running.catch(() => undefined)
      return (await server.address()).port
    }

    beforeAll(async () => {
      const { client, namespace, until, renew } = at()
      suite = { suite: namespace }
      main = `main-${namespace}`
      folder = await mkdtemp(join(tmpdir(), 'reeve-injection-'))
      rendered = await renderChart(namespace, ['installCRD=false'])
      for (const object of rendered.filter(({ kind }) => RIGHTS.has(kind))) {
        await client.apply(await client.resourceFor(object), object, { force: true })
      }
      rights = new UsedRights(namespace)
      account = await connect({ kubeconfig: await tokenKubeconfig(at(), folder), onRequest: rights.note })
      const mayRead = () =>
        account.get(Namespaces, { name: namespace }).then(
          () => true,
          () => false,
        )
      // The authorizer sees new roles a moment later.
      await until(mayRead)
      rights.forget()
      const port = await serve()
      await client.apply(MutatingWebhookConfigurations, forSuite(rendered, port, suite), { force: true })
      await renew(-11 * HOUR_MS)
      await createDynaKube(main, {
        oneAgent: { cloudNativeFullStack: { namespaceSelector: { matchLabels: suite } } },
        metadataEnrichment: { enabled: true, namespaceSelector: { matchLabels: suite } },
      })
      await createSource(main)
      // The API server sees the webhooks a moment later.
      await until(async () => {
        const name = unique('first')
        return (await createNamespace(name, suite)).metadata.labels?.[INSTANCE] === main
      })
    })
    afterAll(async () => {
      const { client, namespace } = at()
      await client.delete(MutatingWebhookConfigurations, { name: WEBHOOK_NAME }).catch(() => undefined)
      stop?.abort()
      await running
      await account?.close()
      for (const name of created) await client.delete(Namespaces, { name }).catch(() => undefined)
      await client.deleteCollection(DynaKubes, { namespace })
      for (const object of rendered?.filter(({ kind }) => RIGHTS.has(kind)) ?? []) {
        const { name = '', namespace: own } = object.metadata
        await client.delete(await client.resourceFor(object), { name, ...(own && { namespace: own }) })
      }
      await rm(folder, { recursive: true, force: true })
    })

    let count = 0
    const unique = (name: string) => `${name}-${++count}-${at().namespace}`

    async function createNamespace(name: string, labels: Readonly<Record<string, string>>) {
      created.push(name)
      const metadata = { name, labels }
      return at().client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
    }

    /** A namespace in which pods can be created. */
    async function workingNamespace(labels: Readonly<Record<string, string>> = suite): Promise<string> {
      const name = unique('pods')
      await createNamespace(name, labels)
      const exists = () =>
        at()
          .client.get(ServiceAccounts, { namespace: name, name: 'default' })
          .then(
            () => true,
            () => false,
          )
      await at().until(exists)
      return name
    }

    async function createDynaKube(name: string, spec: Partial<DynaKubeSpec>): Promise<void> {
      const { client, namespace } = at()
      const metadata = { namespace, name }
      const apiUrl = 'https://tenant.live.example.com/api'
      const dynakube: DynaKube = {
        apiVersion: 'dynatrace.com/v1beta6',
        kind: 'DynaKube',
        metadata,
        spec: { apiUrl, ...spec },
      }
      await client.create(DynaKubes, dynakube)
      const status = {
        kubeSystemUUID: 'cluster-uid',
        codeModules: { version: '1.300.0' },
        oneAgent: { connectionInfoStatus: { tenantUUID: 'tenant-uuid' } },
      }
      await client.patch(DynaKubes, metadata, { type: 'merge', patch: { status } }, { subresource: 'status' })
    }

    const createSource = (dynakube: string) =>
      at().client.create(Secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: at().namespace, name: `${dynakube}-bootstrapper-config`, labels: { team: 'a' } },
        data: encodeSecret({ 'endpoint.properties': 'x' }),
      })

    const podOf = (namespace: string, parts: Partial<Pod['metadata']> = {}, container = {}): Pod => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name: unique('pod'), ...parts },
      spec: { containers: [{ name: 'app', image: 'php:fpm', ...container }] },
    })
    const createPod = (...args: Parameters<typeof podOf>) => at().client.create(Pods, podOf(...args))
    const initOf = ({ spec }: Pod) => spec?.initContainers?.find(({ name }) => name === 'dynatrace-operator')
    const eventsFor = async (dynakube: string) => {
      const { items } = await at().client.list(Events, { namespace: at().namespace })
      return items.filter(({ involvedObject }) => involvedObject.name === dynakube).map(({ reason }) => reason)
    }
    const isGone = (reading: Promise<unknown>) =>
      reading.then(
        () => false,
        (error: unknown) => isNotFound(error),
      )

    describe('namespaces', () => {
      it('leave admission with the label of their DynaKube, whatever the old label, and lose it when they no longer match', async () => {
        const { client } = at()
        const name = unique('labelled')
        const stored = await createNamespace(name, { ...suite, [INSTANCE]: 'other' })
        expect(stored.metadata.labels?.[INSTANCE]).toBe(main)
        const leaving = {
          type: 'json',
          patch: [{ op: 'replace', path: '/metadata/labels/suite', value: 'none' }],
        } as const
        // Still sent to the webhook: the selector of its registration matches the old object, too.
        expect((await client.patch(Namespaces, { name }, leaving)).metadata.labels).not.toHaveProperty([INSTANCE])
      })

      it.each(['kube', 'openshift', 'gke', 'gmp'])('called %s-… stay without', async (prefix) => {
        const stored = await createNamespace(unique(prefix), suite)
        expect(stored.metadata.labels).not.toHaveProperty([INSTANCE])
      })

      it('called like those of the platform are labelled where nothing is ignored, the own one never', async () => {
        const { client, namespace } = at()
        const key = { namespace, name: main }
        const annotate = (value: string | null) =>
          client.patch(DynaKubes, key, {
            type: 'merge',
            patch: { metadata: { annotations: { 'feature.dynatrace.com/ignored-namespaces': value } } },
          })
        await annotate('[]')
        try {
          expect((await createNamespace(unique('kube'), suite)).metadata.labels?.[INSTANCE]).toBe(main)
          const patch = { metadata: { labels: { ...suite } } }
          const own = await client.patch(Namespaces, { name: namespace }, { type: 'merge', patch })
          expect(own.metadata.labels).not.toHaveProperty([INSTANCE])
        } finally {
          await client.patch(
            Namespaces,
            { name: namespace },
            { type: 'merge', patch: { metadata: { labels: { suite: null } } } },
          )
          await annotate(null)
        }
      })

      it('that two DynaKubes would inject are rejected with 400, but not for only exporters', async () => {
        const { client, namespace } = at()
        const both = { matchLabels: { ...suite, rival: 'yes' } }
        await createDynaKube('rival', { metadataEnrichment: { enabled: true, namespaceSelector: both } })
        const rejected = createNamespace(unique('torn'), { ...suite, rival: 'yes' })
        await expect(rejected).rejects.toMatchObject({ status: 400, message: expect.stringContaining('rival') })
        await client.delete(DynaKubes, { namespace, name: 'rival' })
        await createDynaKube('exporters', {
          otlpExporterConfiguration: { signals: { logs: {} }, namespaceSelector: both },
        })
        const shared = await createNamespace(unique('shared'), { ...suite, rival: 'yes' })
        expect(shared.metadata.labels?.[INSTANCE]).toBe(main)
        await client.delete(DynaKubes, { namespace, name: 'exporters' })
      })

      it('lose the marker of the operator and keep the labels that it set', async () => {
        const { client } = at()
        const name = unique('marked')
        await createNamespace(name, suite)
        const patch = { metadata: { annotations: { [MARKER]: 'true' }, labels: { [INSTANCE]: 'by-operator' } } }
        const stored = await client.patch(Namespaces, { name }, { type: 'merge', patch })
        expect(stored.metadata.annotations ?? {}).not.toHaveProperty([MARKER])
        expect(stored.metadata.labels?.[INSTANCE]).toBe('by-operator')
      })
    })

    describe('pods', () => {
      it('of a Deployment name it, and get the Secret that the operator has not copied yet', async () => {
        const { client, namespace: operator, until } = at()
        const namespace = await workingNamespace()
        const labels = { app: 'web' }
        await client.create(Deployments, {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { namespace, name: 'web' },
          spec: {
            replicas: 2,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'php:fpm' }] } },
          },
        })
        await until(async () => (await client.list(Pods, { namespace })).items.length === 2)
        for (const pod of (await client.list(Pods, { namespace })).items) {
          expect(initOf(pod)?.image).toBe(IMAGE)
          expect(initOf(pod)?.args).toEqual(
            expect.arrayContaining([
              'bootstrap',
              '--tenant=tenant-uuid',
              '--attribute=k8s.workload.kind=deployment',
              '--attribute=k8s.workload.name=web',
            ]),
          )
          expect(pod.metadata.annotations).toMatchObject({
            'dynakube.dynatrace.com/injected': 'true',
            'oneagent.dynatrace.com/injected': 'true',
            'metadata-enrichment.dynatrace.com/injected': 'true',
          })
        }
        const copy = await client.get(Secrets, { namespace, name: CONFIG })
        const source = await client.get(Secrets, { namespace: operator, name: `${main}-bootstrapper-config` })
        expect(copy.data).toEqual(source.data)
        expect(copy.metadata.labels).toEqual(source.metadata.labels)
        expect(copy.metadata).not.toHaveProperty('ownerReferences')
        await until(async () => (await eventsFor(main)).includes('Inject'))
      })

      it('are not changed when they opt out, and in namespaces without a DynaKube', async () => {
        const excluded = await createPod(await workingNamespace(), { annotations: { 'dynatrace.com/inject': 'false' } })
        expect([initOf(excluded), excluded.metadata.annotations]).toEqual([
          undefined,
          { 'dynatrace.com/inject': 'false' },
        ])
        const elsewhere = await createPod(await workingNamespace({}))
        expect([initOf(elsewhere), elsewhere.metadata.annotations]).toEqual([undefined, undefined])
      })

      it('say why when neither copy nor source of the Secret exists', async () => {
        const { client, namespace: operator } = at()
        const source = { namespace: operator, name: `${main}-bootstrapper-config` }
        await client.delete(Secrets, source)
        try {
          const pod = await createPod(await workingNamespace())
          expect(initOf(pod)).toBeUndefined()
          expect(pod.metadata.annotations).toEqual({
            'dynakube.dynatrace.com/injected': 'false',
            'dynakube.dynatrace.com/reason': 'NoBootstrapperConfig',
          })
        } finally {
          await createSource(main)
        }
      })

      it('are rehearsed without a copy of the Secret', async () => {
        const { client } = at()
        const namespace = await workingNamespace()
        const pod = await client.create(Pods, podOf(namespace), { dryRun: true })
        expect(initOf(pod)).toBeDefined()
        expect(await isGone(client.get(Secrets, { namespace, name: CONFIG }))).toBe(true)
      })

      it.each([
        ['apps/v1', 'ReplicaSet'],
        ['apps/v1', 'Deployment'],
        ['apps/v1', 'StatefulSet'],
        ['apps/v1', 'DaemonSet'],
        ['batch/v1', 'Job'],
        ['batch/v1', 'CronJob'],
        ['v1', 'ReplicationController'],
        ['apps.openshift.io/v1', 'DeploymentConfig'],
      ])('owned by a %s %s that does not exist are admitted with that reason only', async (apiVersion, kind) => {
        const owner: OwnerReference = { apiVersion, kind, name: 'gone', uid: 'gone', controller: true }
        const pod = await createPod(await workingNamespace(), { ownerReferences: [owner] })
        expect(initOf(pod)).toBeUndefined()
        expect(pod.metadata.annotations).toEqual({
          'metadata-enrichment.dynatrace.com/injected': 'false',
          'metadata-enrichment.dynatrace.com/reason': 'OwnerLookupFailed',
        })
      })

      it('owned by anything else count as their own workload', async () => {
        const owner = { apiVersion: 'example.com/v1', kind: 'Robot', name: 'r', uid: 'r', controller: true }
        const pod = await createPod(await workingNamespace(), { ownerReferences: [owner] })
        expect(initOf(pod)?.args).toContain('--attribute=k8s.workload.kind=pod')
      })

      it('are admitted unchanged when their DynaKube does not exist, with an event', async () => {
        const { client, until } = at()
        const namespace = await workingNamespace({})
        const patch = { metadata: { labels: { [INSTANCE]: 'gone' } } }
        await client.patch(Namespaces, { name: namespace }, { type: 'merge', patch })
        await until(async () => {
          const pod = await createPod(namespace)
          expect([initOf(pod), pod.metadata.annotations]).toEqual([undefined, undefined])
          return (await eventsFor('gone')).includes('MissingDynakube')
        })
      })

      it('are injected into containers that another webhook adds afterwards', async () => {
        const { client, until } = at()
        await using mesh = await serveMesh()
        const configuration = meshConfiguration(mesh.url, mesh.authority, suite)
        await client.apply(MutatingWebhookConfigurations, configuration, { force: true })
        try {
          const namespace = await workingNamespace()
          let pod = await createPod(namespace)
          await until(async () => {
            pod = await createPod(namespace)
            return pod.spec?.containers.length === 2
          })
          const [first, added] = pod.spec?.containers ?? []
          const ours = (container = first) =>
            container?.volumeMounts?.filter(({ name }) => ['oneagent-bin', 'dynatrace-config'].includes(name)).length
          expect([ours(first), ours(added)]).toEqual([3, 3])
          expect(initOf(pod)?.args?.filter((argument) => argument.startsWith('--attribute-container='))).toHaveLength(2)
          await until(async () => (await eventsFor(main)).includes('UpdatePod'))
        } finally {
          await client.delete(MutatingWebhookConfigurations, { name: configuration.metadata.name ?? '' })
        }
      })

      it('start without injection while the webhook is down', async () => {
        const namespace = await workingNamespace()
        stop.abort()
        await running
        try {
          const pod = await createPod(namespace)
          expect(initOf(pod)).toBeUndefined()
        } finally {
          await serve()
        }
      })
    })

    describe('the account of the webhook', () => {
      it('is refused nothing', () => {
        expect(rights.refusals).toEqual([])
      })

      it('has no right that it does not use', () => {
        // Counted up by a patch only when the same event occurs again; proxies are looked up by validation.
        const certain = new Set(['patch events', 'get pods'])
        for (const kind of ['Role', 'ClusterRole'] as const) {
          expect(
            rights
              .unused(rendered, kind, WEBHOOK_NAME)
              .filter((right) => !certain.has(right) && right !== 'list namespaces'),
          ).toEqual([])
        }
      })
    })
  })
}

/** The registration of the chart, at this port, and for namespaces of one suite only. */
function forSuite(
  rendered: readonly UnknownObject[],
  port: number,
  labels: Readonly<Record<string, string>>,
): MutatingWebhookConfiguration {
  const configuration = rendered.find(({ kind }) => kind === 'MutatingWebhookConfiguration')
  if (configuration === undefined) throw new Error('the chart does not register webhooks')
  // Webhook configurations have webhooks.
  const webhooks = configuration.webhooks as readonly MutatingWebhook[]
  const { apiVersion, kind, metadata } = configuration
  return {
    apiVersion,
    kind,
    metadata,
    webhooks: webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { service: { namespace: '', name: '', ...webhook.clientConfig.service, port } },
      ...(webhook.name.includes('.ns.') && { objectSelector: { matchLabels: labels } }),
    })),
  }
}

/** Another webhook, which adds a container. */
async function serveMesh() {
  const validity = { nowMs: Date.now(), validityMs: 24 * HOUR_MS }
  const authority = await issueAuthority('mesh', validity)
  const certificates = new CertificateHolder(await issueServing(authority, ['127.0.0.1'], validity))
  const route = mutatingWebhook<Pod>('/mesh', ({ object }) => {
    const containers = object?.spec?.containers ?? []
    if (object === undefined || containers.some(({ name }) => name === 'mesh')) return { allowed: true }
    const spec = { ...object.spec, containers: [...containers, { name: 'mesh', image: 'mesh:1' }] }
    const meshed: Pod = { ...object, spec }
    return mutate(meshed)
  })
  const server = new WebhookServer(new WebhookRouter([route]), { certificates, host: '127.0.0.1', port: 0 })
  const stop = new AbortController()
  const running = server.run(stop.signal)
  const { port } = await server.address()
  return {
    url: `https://127.0.0.1:${port}/mesh`,
    authority: authority.certificate,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

function meshConfiguration(
  url: string,
  authority: string,
  labels: Readonly<Record<string, string>>,
): MutatingWebhookConfiguration {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    // Called after the one under test.
    metadata: { name: 'mesh-of-injection-test' },
    webhooks: [
      {
        name: 'mesh.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url, caBundle: Buffer.from(authority).toString('base64') },
        namespaceSelector: { matchLabels: labels },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
      },
    ],
  }
}
