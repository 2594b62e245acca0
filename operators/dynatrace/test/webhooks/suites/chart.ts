/** The chart on a cluster: what it installs is valid, and the webhook needs no right beyond those it gives. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, isForbidden, isNotFound, Pods, type Secret, Secrets, type UnknownObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { dynakube } from '../../../src/api/testing/build.ts'
import { ALL_MODULES } from '../../../src/api/validation/modules.ts'
import { createWebhookServer, validationPath, WEBHOOK_NAME } from '../../../src/index.ts'
import { helmPath, renderChart } from '../../support/render-chart.ts'
import type { WebhookStage } from '../../support/webhook-stage.ts'

/** What gives accounts their rights, and limits them. */
export const RIGHTS = new Set([
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
])

/** The suite; `at` gives the stage once it is set. */
export function chartSuite(at: () => WebhookStage): void {
  const apply = async (object: UnknownObject, dryRun: boolean) => {
    const { client } = at()
    await client.apply(await client.resourceFor(object), object, { dryRun, force: true, fieldValidation: 'Strict' })
  }

  describe.skipIf(helmPath === undefined)('the chart (skipped without helm)', () => {
    it.each([
      ['with defaults', []],
      [
        'with one replica and a certificate of cert-manager',
        ['webhook.highAvailability=false', 'webhook.certificateSecretName=tls'],
      ],
      [
        'with everything set but CRDs',
        [
          'installCRD=false',
          'webhook.hostNetwork=true',
          'webhook.apparmor=true',
          'debugLogs=true',
          'customPullSecret=s',
          'webhook.labels.team=a',
          'webhook.annotations.note=b',
        ],
      ],
    ])('renders objects that the API server accepts %s', async (_, values) => {
      // Not where the stage has its own Deployment and Service of these names.
      const objects = await renderChart('default', values)
      expect(objects.length).toBeGreaterThan(8)
      for (const object of objects) await apply(object, true)
    })

    it('lets whoever holds the token of the webhook create configuration, and no way to become another account', async () => {
      const { client: admin, namespace, until } = at()
      const rights = (await renderChart(namespace, ['installCRD=false'])).filter(({ kind }) => RIGHTS.has(kind))
      for (const object of rights) await apply(object, false)
      const folder = await mkdtemp(join(tmpdir(), 'reeve-chart-'))
      const attacker = await connect({ kubeconfig: await tokenKubeconfig(at(), folder) })
      const name = 'dynatrace-bootstrapper-config'
      const create = async (to: string, secret: Partial<Secret>, metadata: object = { name }) => {
        try {
          await attacker.create(Secrets, {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { namespace: to, ...metadata },
            ...secret,
          })
          return 'created'
        } catch (error) {
          return isForbidden(error) ? 'denied' : String(error)
        }
      }
      const token = (account: string) => ({ name, annotations: { 'kubernetes.io/service-account.name': account } })
      const type = 'kubernetes.io/service-account-token'
      try {
        // Authorizer and admission see new objects a moment later.
        await until(async () => (await create('default', {})) === 'created')
        await until(async () => (await create('default', {}, { generateName: 'other-' })) === 'denied')
        expect(await create('kube-system', { type }, token('clusterrole-aggregation-controller'))).toBe('denied')
        expect(await create(namespace, { type }, token('dynatrace-operator'))).toBe('denied')
        expect(await create('default', { type: 'bootstrap.kubernetes.io/token' })).toBe('denied')
        expect(await create('default', {}, { generateName: name })).toBe('denied')
        expect(await create('kube-system', {}, { name: 'bootstrap-token-abcdef' })).toBe('denied')
        await expect(attacker.get(Secrets, { namespace: 'default', name })).rejects.toThrow('forbidden')
        // Others are not affected.
        const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'default', name: 'other' } } as const
        await admin.create(Secrets, secret, { dryRun: true })
      } finally {
        await attacker.close()
        await rm(folder, { recursive: true, force: true })
        const { items } = await admin.list(Secrets, { namespace: 'default' })
        for (const { metadata } of items.filter((item) => /^(?:other-|dynatrace-)/.test(item.metadata.name))) {
          await admin.delete(Secrets, { namespace: 'default', name: metadata.name })
        }
        for (const object of rights) {
          const { name: of = '', namespace: own } = object.metadata
          await admin.delete(await admin.resourceFor(object), { name: of, ...(own && { namespace: own }) })
        }
      }
    })

    it('gives the webhook all the rights it uses: as its ServiceAccount it reads everything without a denial', async () => {
      const { client: admin, namespace, until } = at()
      const rights = (await renderChart(namespace, ['installCRD=false'])).filter(({ kind }) => RIGHTS.has(kind))
      for (const object of rights) await apply(object, false)
      const folder = await mkdtemp(join(tmpdir(), 'reeve-chart-'))
      const refusals: string[] = []
      const client = await connect({
        kubeconfig: await tokenKubeconfig(at(), folder),
        onRequest: ({ status, verb, resource }) => {
          if (status === 403) refusals.push(`${verb} ${resource}`)
        },
      })
      const stop = new AbortController()
      try {
        const ownPod = () =>
          client.get(Pods, { namespace, name: 'webhook-1' }).catch((error: unknown) => isNotFound(error))
        // The authorizer sees new roles a moment later.
        await until(async () => (await ownPod()) === true)
        refusals.length = 0
        const { manager, server } = createWebhookServer({
          client,
          namespace,
          modules: ALL_MODULES,
          injection: { image: 'registry.example.com/operator:1', isOpenShift: false, isManagedByOlm: false },
          address: { host: '127.0.0.1', port: 0 },
          certificates: {
            areProvided: false,
            files: { directory: join(folder, 'certs'), certificate: 'tls.crt', privateKey: 'tls.key' },
          },
        })
        const running = manager.run(stop.signal)
        running.catch(() => undefined)
        // It listens once it has read its certificate from the Secret.
        await server.address()
        const object = dynakube({
          oneAgent: { cloudNativeFullStack: {} },
          proxy: { valueFrom: 'no-such-proxy' },
          enableIstio: true,
        })
        const answer = await server.handle(validationPath('v1beta6', 'DynaKube'), {
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          request: {
            uid: 'uid-1',
            kind: { group: 'dynatrace.com', version: 'v1beta6', kind: 'DynaKube' },
            resource: { group: 'dynatrace.com', version: 'v1beta6', resource: 'dynakubes' },
            namespace,
            operation: 'CREATE',
            object: { ...object, metadata: { ...object.metadata, namespace } },
          },
        })
        expect(JSON.stringify(answer)).toMatch(/the Secret no-such-proxy does not exist.*networking\.istio\.io/)
        stop.abort()
        await running
        expect(refusals).toEqual([])
      } finally {
        stop.abort()
        await client.close()
        await rm(folder, { recursive: true, force: true })
        for (const object of rights) {
          const { name = '', namespace: own } = object.metadata
          await admin.delete(await admin.resourceFor(object), { name, ...(own && { namespace: own }) })
        }
      }
    })
  })
}

/** How a pod of the webhook reaches the cluster. */
export async function tokenKubeconfig({ cluster, client, namespace }: WebhookStage, folder: string): Promise<string> {
  const { status } = await client.raw<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${WEBHOOK_NAME}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })
  const { server, ca } = cluster.connection
  const name = 'webhook'
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name, user: { token: status.token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  }
  const path = join(folder, 'kubeconfig')
  await writeFile(path, stringify(config), { mode: 0o600 })
  return path
}
