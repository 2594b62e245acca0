/** Faults that users meet, each with what `troubleshoot` has to say about it. */
import {
  ConfigMaps,
  CsiDrivers,
  CustomResourceDefinitions,
  DaemonSets,
  Deployments,
  Events,
  type KubeObject,
  Leases,
  Nodes,
  type ObjectKey,
  Pods,
  type Resource,
  Secrets,
  Services,
  type UnknownObject,
} from '@reeve/kube'
import { type DynaKubeSpec, DynaKubes } from '../../../src/index.ts'
import type { Finding } from '../../../src/support/troubleshoot/finding.ts'
import { startTenantSimulator } from '../../../src/tenant/simulator/index.ts'
import { until } from '../../support/until.ts'
import { type HealthyStage, lease, NAMESPACE, pod, secret, TENANT, webhookObjects } from './healthy-stage.ts'

/** A fault. */
export interface PlantedFault {
  /** What is wrong, as a sentence. */
  readonly name: string
  /** Plants the fault; the returned function removes it. */
  readonly plant: (stage: HealthyStage) => Promise<() => Promise<void> | void>
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly check: Finding['check']
  readonly message: RegExp
  readonly remedy: RegExp
  /** @default 'error' */
  readonly status?: Finding['status']
}

const nothing = async () => () => undefined
const key = (name: string) => ({ namespace: NAMESPACE, name })

/** Deletes an object, and creates it again as it was. */
const without =
  <T extends KubeObject>(resource: Resource<T>, target: ObjectKey) =>
  async ({ client, apply }: HealthyStage) => {
    const { metadata, ...rest } = await client.get(resource, target)
    await client.delete(resource, target, { propagationPolicy: 'Background' })
    const { name, namespace, labels, annotations } = metadata
    const kept = { ...(namespace && { namespace }), ...(labels && { labels }), ...(annotations && { annotations }) }
    // A stored object, without what the server fills in.
    const { status: _status, ...object } = rest as unknown as UnknownObject & { status?: unknown }
    return () => apply({ ...object, metadata: { name, ...kept } } as UnknownObject)
  }

/** Replaces an object, and puts the one before in its place again. */
const instead =
  (object: UnknownObject) =>
  async ({ client }: HealthyStage) => {
    const resource = await client.resourceFor(object)
    const { name = '', namespace } = object.metadata
    const target = { name, ...(namespace && { namespace }) }
    const before = await client.get(resource, target)
    const replace = async (next: UnknownObject) => {
      const { resourceVersion } = (await client.get(resource, target)).metadata
      await client.update(resource, { ...next, metadata: { ...next.metadata, resourceVersion } })
    }
    await replace(object)
    return () => replace(before)
  }

/** Scales a Deployment to zero, and back. */
async function scaled(name: string, { client }: HealthyStage) {
  const scale = async (replicas: number) => {
    await client.patch(Deployments, key(name), { type: 'merge', patch: { spec: { replicas } } })
    await until('the scale', async () => {
      const { status } = await client.get(Deployments, key(name))
      return (status?.readyReplicas ?? 0) === replicas
    })
  }
  await scale(0)
  return () => scale(1)
}

/** A second DynaKube of the same tenant. */
export async function addDynaKube({ client, simulator }: HealthyStage, spec: Partial<DynaKubeSpec>) {
  await client.create(DynaKubes, {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace: NAMESPACE, name: 'second' },
    spec: { apiUrl: simulator.url(TENANT), tokens: TENANT, trustedCAs: 'tenant', ...spec },
  })
  return async () => void (await client.delete(DynaKubes, key('second')))
}

/** Labels of pods that the operator rolled out. */
const ROLLED_OUT = { 'app.kubernetes.io/managed-by': 'dynatrace-operator' }
/** Labels of the pods of a component of the chart. */
const ofChart = (component: string) => ({
  'app.kubernetes.io/name': 'dynatrace-operator',
  'app.kubernetes.io/component': component,
})

/** A pod of the operator, or one that it rolled out, that fails. */
async function failingAgent(
  { client, apply }: HealthyStage,
  reason: string,
  labels: Readonly<Record<string, string>> = ROLLED_OUT,
) {
  const annotations = { 'simulator.reeve.dev/fail': reason }
  await apply({ ...pod('agent'), metadata: { namespace: NAMESPACE, name: 'agent', labels, annotations } })
  await until('the failure', async () => {
    const { status } = await client.get(Pods, key('agent'))
    const { state, lastState } = status?.containerStatuses?.[0] ?? {}
    if (lastState?.terminated?.reason === reason) return true
    return state?.waiting !== undefined && state.waiting.reason !== 'ContainerCreating'
  })
  return async () => void (await client.delete(Pods, key('agent'), { gracePeriodSeconds: 0 }))
}

const crd = (plural: string, kind: string): UnknownObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.dynatrace.com` },
  spec: {
    group: 'dynatrace.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

/** Nobody listens there. */
const CLOSED = '127.0.0.1:9'

/** The faults, in the order of the report. */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'the former OneAgent operator left its CRD',
    plant: async ({ apply, client }) => {
      await apply(crd('oneagentapms', 'OneAgentAPM'))
      await until('the kind', async () => {
        client.discovery.invalidate()
        return (await client.discovery.resources()).some(({ kind }) => kind === 'OneAgentAPM')
      })
      return async () => {
        await client.delete(CustomResourceDefinitions, { name: 'oneagentapms.dynatrace.com' })
        await until('no such kind', async () => {
          client.discovery.invalidate()
          return !(await client.discovery.resources()).some(({ kind }) => kind === 'OneAgentAPM')
        })
      }
    },
    check: 'oneAgentAPM',
    message: /prerequisite failed.*oneagentapms\.dynatrace\.com/,
    remedy: /kubectl delete crd oneagentapms\.dynatrace\.com/,
  },
  {
    name: 'the namespace does not exist',
    plant: nothing,
    args: ['-n', 'absent'],
    check: 'namespace',
    message: /prerequisite failed: the namespace absent does not exist/,
    remedy: /with -n/,
  },
  {
    name: 'the CRD does not serve the version of this release',
    plant: async ({ client }) => {
      const name = { name: 'dynakubes.dynatrace.com' }
      const serve = async (served: boolean) => {
        const { spec } = await client.get(CustomResourceDefinitions, name)
        const versions = spec.versions.map((version) => (version.name === 'v1beta6' ? { ...version, served } : version))
        await client.patch(CustomResourceDefinitions, name, { type: 'merge', patch: { spec: { versions } } })
        await until('the change', () =>
          client.list(DynaKubes, { namespace: NAMESPACE }).then(
            () => served,
            () => !served,
          ),
        )
      }
      await serve(false)
      return () => serve(true)
    },
    check: 'crd',
    message: /CRD dynakubes\.dynatrace\.com is not installed, or does not serve v1beta6/,
    remedy: /installCRD=true/,
  },
  {
    name: 'the namespace has no DynaKube',
    plant: nothing,
    args: ['-n', 'elsewhere'],
    check: '',
    message: /no DynaKube in the namespace elsewhere/,
    remedy: /create a DynaKube/,
  },
  {
    name: 'the DynaKube of the command line does not exist',
    plant: nothing,
    args: ['-d', 'absent'],
    check: 'crd',
    message: /the DynaKube dynatrace\/absent does not exist/,
    remedy: /kubectl get dynakubes/,
  },
  {
    name: 'the pod of the operator is not ready',
    plant: (stage) => scaled('dynatrace-operator', stage),
    check: 'operator',
    message: /Deployment dynatrace\/dynatrace-operator has no ready pod: nothing is reconciled/,
    remedy: /kubectl describe pods -n dynatrace -l name=dynatrace-operator/,
  },
  {
    name: 'the leader of the operator hangs',
    plant: instead(lease(Date.now() - 24 * 3_600_000)),
    check: 'operator',
    message: /leader dynatrace-operator-7c9f renewed the Lease dynatrace\/dynatrace-operator-lock 86\d\d\d s ago/,
    remedy: /kubectl rollout restart -n dynatrace deploy\/dynatrace-operator/,
  },
  {
    name: 'no replica of the operator has become the leader',
    plant: without(Leases, key('dynatrace-operator-lock')),
    check: 'operator',
    message: /no replica of the operator is the leader/,
    remedy: /kubectl logs -n dynatrace deploy\/dynatrace-operator/,
  },
  {
    name: 'the Service of the webhook is missing',
    plant: without(Services, key('dynatrace-webhook')),
    check: 'webhook',
    message: /Service dynatrace\/dynatrace-webhook does not exist/,
    remedy: /install or upgrade the chart/,
  },
  {
    name: 'the Service of the webhook has no endpoints',
    plant: async ({ client }) => {
      const select = (version: string | null) =>
        client.patch(Services, key('dynatrace-webhook'), {
          type: 'merge',
          patch: { spec: { selector: { 'app.kubernetes.io/version': version } } },
        })
      await select('0.0.9')
      return async () => void (await select(null))
    },
    check: 'webhook',
    message: /Service dynatrace\/dynatrace-webhook has no endpoints: its selector matches no ready pod/,
    remedy: /labels of the same release/,
  },
  {
    name: 'the webhook is not installed',
    plant: without(Deployments, key('dynatrace-webhook')),
    check: 'webhook',
    message: /Deployment dynatrace\/dynatrace-webhook does not exist/,
    remedy: /install or upgrade the chart/,
  },
  {
    name: 'the webhook is scaled to zero',
    plant: (stage) => scaled('dynatrace-webhook', stage),
    check: 'webhook',
    message: /is scaled to 0/,
    remedy: /scale it up/,
  },
  {
    name: 'the certificate of the webhook has expired',
    plant: async (stage) => {
      for (const object of await webhookObjects(Date.now() - 30 * 24 * 3_600_000)) await stage.apply(object)
      return async () => {
        for (const object of await webhookObjects(Date.now())) await stage.apply(object)
      }
    },
    check: 'webhook',
    message: /certificate of the webhook expired at/,
    remedy: /delete the Secret dynatrace\/dynatrace-webhook-certs/,
  },
  {
    name: 'the webhook configuration trusts another authority',
    plant: async (stage) => {
      const [, validating, mutating] = await webhookObjects(Date.now())
      for (const object of [validating, mutating]) if (object !== undefined) await stage.apply(object)
      return async () => {
        for (const object of await webhookObjects(Date.now())) await stage.apply(object)
      }
    },
    check: 'webhook',
    message: /MutatingWebhookConfiguration dynatrace-webhook does not trust/,
    remedy: /caBundle/,
  },
  {
    name: 'the API server cannot reach the webhook',
    plant: async (stage) => {
      stage.webhook = 'cannot be reached'
      return () => {
        stage.webhook = 'allows'
      }
    },
    check: 'webhook',
    message: /API server cannot call the webhook/,
    remedy: /network policies/,
  },
  {
    name: 'the webhook rejects the DynaKube as it is stored',
    plant: async (stage) => {
      stage.webhook = 'denies'
      return () => {
        stage.webhook = 'allows'
      }
    },
    check: 'webhook',
    message: /rejects the DynaKube dynatrace\/abc12345 as it is: .*spec\.apiUrl/,
    remedy: /change the field/,
  },
  {
    name: 'the CSIDriver object is missing',
    plant: without(CsiDrivers, { name: 'csi.oneagent.dynatrace.com' }),
    check: 'csi',
    message: /CSIDriver csi\.oneagent\.dynatrace\.com does not exist/,
    remedy: /csidriver\.enabled=true/,
  },
  {
    name: 'the CSI driver is not ready on a node',
    plant: async ({ client }) => {
      const labelSelector = 'internal.oneagent.dynatrace.com/app=csi-driver'
      const { items } = await client.listAll(Pods, { namespace: NAMESPACE, labelSelector })
      const failing = items.find(({ spec }) => spec?.nodeName === 'node-1')
      const annotate = async (fail: string | null, ready: number) => {
        const annotations = { 'simulator.reeve.dev/fail': fail }
        await client.patch(Pods, key(failing?.metadata.name ?? ''), {
          type: 'merge',
          patch: { metadata: { annotations } },
        })
        await until('the driver', async () => {
          const { status } = await client.get(DaemonSets, key('dynatrace-oneagent-csi-driver'))
          return status?.numberReady === ready
        })
      }
      await annotate('NotReady', 1)
      return () => annotate(null, 2)
    },
    check: 'csi',
    message: /CSI driver is not ready on node-1/,
    remedy: /kubectl describe pods -n dynatrace/,
  },
  {
    name: 'the kubelet of a node does not know the CSI driver',
    plant: async ({ apply, client }) => {
      const taints = [{ key: 'test', effect: 'NoSchedule' }]
      await apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-9' }, spec: { taints } })
      // Ready, but without the folders of the kubelet, so that it registers nothing.
      const labels = { 'internal.oneagent.dynatrace.com/app': 'csi-driver' }
      const spec = { nodeName: 'node-9', containers: [{ name: 'server', image: 'operator:1' }] }
      await apply({ apiVersion: 'v1', kind: 'Pod', metadata: { ...key('csi-9'), labels }, spec })
      await until('the pod', async () => (await client.get(Pods, key('csi-9'))).status?.phase === 'Running')
      return async () => {
        await client.delete(Pods, key('csi-9'), { gracePeriodSeconds: 0 })
        await client.delete(Nodes, { name: 'node-9' })
      }
    },
    check: 'csi',
    message: /kubelet does not know the CSI driver on node-9/,
    remedy: /csidriver\.kubeletPath/,
  },
  {
    name: 'two DynaKubes select the same namespace',
    plant: (stage) =>
      addDynaKube(stage, {
        metadataEnrichment: { enabled: true, namespaceSelector: { matchLabels: { team: 'shop' } } },
      }),
    check: 'namespaces',
    message: /namespace shop would be injected or enriched by abc12345 and second/,
    remedy: /refine their namespaceSelectors/,
  },
  {
    name: 'a DynaKube selects no namespace',
    plant: (stage) =>
      stage.editDynaKube({
        oneAgent: { applicationMonitoring: { namespaceSelector: { matchLabels: { team: 'nobody' } } } },
      }),
    check: 'namespaces',
    status: 'warning',
    message: /DynaKube dynatrace\/abc12345 selects no namespace/,
    remedy: /check its namespaceSelector, the labels of the namespaces/,
  },
  {
    name: 'an agent crashes in a loop',
    plant: (stage) => failingAgent(stage, 'CrashLoopBackOff'),
    check: 'pods',
    message: /1 pod of the Pod dynatrace\/agent: CrashLoopBackOff, such as agent/,
    remedy: /kubectl logs -n dynatrace agent -c main --previous/,
  },
  {
    name: 'the image of an agent cannot be pulled by its node',
    plant: (stage) => failingAgent(stage, 'ImagePullBackOff'),
    check: 'pods',
    message: /1 pod of the Pod dynatrace\/agent: (ErrImagePull|ImagePullBackOff)/,
    remedy: /check the image and its pull secret: kubectl describe pod -n dynatrace agent/,
  },
  {
    name: 'an agent exceeds its memory limit',
    plant: (stage) => failingAgent(stage, 'OOMKilled'),
    check: 'pods',
    message: /1 pod of the Pod dynatrace\/agent: OOMKilled, such as agent \(its memory limit is too low\)/,
    remedy: /raise the memory limit of its resources in the DynaKube: kubectl describe pod -n dynatrace agent/,
  },
  ...(
    [
      ['operator', /raise operator\.limits\.memory of the chart/],
      ['webhook', /raise webhook\.limits\.memory of the chart/],
      ['csi-driver', /raise csidriver\.main\.resources\.limits\.memory of the chart/],
    ] as const
  ).map(
    ([component, remedy]): PlantedFault => ({
      name: `the ${component} exceeds its memory limit`,
      plant: (stage) => failingAgent(stage, 'OOMKilled', ofChart(component)),
      check: 'pods',
      message: /1 pod of the Pod dynatrace\/agent: OOMKilled/,
      remedy,
    }),
  ),
  {
    name: 'the token Secret is missing',
    plant: without(Secrets, key(TENANT)),
    check: 'dynakube',
    message: /Secret dynatrace\/abc12345 does not exist/,
    remedy: /create it with the key apiToken/,
  },
  {
    name: 'the token Secret has no apiToken',
    plant: instead(secret(TENANT, { paasToken: 'x' })),
    check: 'dynakube',
    message: /has no apiToken/,
    remedy: /add one/,
  },
  {
    name: 'the token ends with a line break',
    plant: instead(secret(TENANT, { apiToken: 'dt0c01.ABC.SECRET\n' })),
    check: 'dynakube',
    message: /apiToken begins or ends with white space/,
    remedy: /remove it/,
  },
  {
    name: 'the token was revoked',
    plant: instead(secret(TENANT, { apiToken: 'dt0c01.ABCDEFGHIJKLMNOPQRSTUVWX.NEVERISSUED' })),
    check: 'dynakube',
    message: /the tenant rejects apiToken: .*401/,
    remedy: /create a token in the tenant and write it to the key apiToken of the Secret dynatrace\/abc12345/,
  },
  {
    name: 'the token lacks a scope',
    plant: async ({ simulator }) => {
      const { tokens } = simulator.tenant(TENANT)
      const { scopes = [] } = tokens.get('apiToken') ?? {}
      tokens.setScopes(
        'apiToken',
        scopes.filter((scope) => scope !== 'activeGateTokenManagement.create'),
      )
      return () => tokens.setScopes('apiToken', scopes)
    },
    check: 'dynakube',
    message: /apiToken lacks activeGateTokenManagement\.create/,
    remedy: /add it, or use another token/,
  },
  {
    name: 'nothing listens at the API URL',
    plant: (stage) => stage.editDynaKube({ apiUrl: `https://${CLOSED}/e/${TENANT}/api` }),
    check: 'dynakube',
    message: /the tenant cannot be used: .*ECONNREFUSED/,
    remedy: /check spec\.apiUrl/,
  },
  {
    name: 'the API URL does not end in /api',
    plant: (stage) => stage.editDynaKube({ apiUrl: stage.simulator.url(TENANT).replace(/\/api$/, '') }),
    check: 'dynakube',
    message: /the tenant cannot be used: spec\.apiUrl: ".*" is not a valid tenant URL/,
    remedy: /an apiUrl like https:\/\/.*\/api/,
  },
  {
    name: 'the tenant is in maintenance',
    plant: async ({ simulator }) => {
      const rule = simulator.faults.add({ kind: 'status', status: 503 })
      return () => rule.remove()
    },
    check: 'dynakube',
    message: /the tenant cannot be used: .*503/,
    remedy: /wait until the tenant, or what is in front of it, works again/,
  },
  {
    name: 'the certificate of the tenant is not trusted',
    plant: (stage) => stage.editDynaKube({ trustedCAs: '' }),
    check: 'dynakube',
    message: /the tenant cannot be used: .*certificate/i,
    remedy: /spec\.trustedCAs/,
  },
  {
    name: 'the ConfigMap of trusted certificates is missing',
    plant: without(ConfigMaps, key('tenant')),
    check: 'dynakube',
    message: /spec\.trustedCAs: the ConfigMap dynatrace\/tenant has no key certs/,
    remedy: /add it/,
  },
  {
    name: 'the pull secret is missing',
    plant: (stage) => stage.editDynaKube({ customPullSecret: 'absent' }),
    check: 'dynakube',
    message: /pull secret dynatrace\/absent does not exist/,
    remedy: /kubectl create secret docker-registry absent/,
  },
  {
    name: 'the pull secret has another type',
    plant: instead(secret(`${TENANT}-pull-secret`, { password: 'x' })),
    check: 'dynakube',
    message: /has no key \.dockerconfigjson/,
    remedy: /check the log of the operator/,
  },
  {
    name: 'the pull secret is not a valid docker config',
    plant: instead(secret(`${TENANT}-pull-secret`, { '.dockerconfigjson': '{"auths":' })),
    check: 'dynakube',
    message: /images cannot be pulled: the pull secret dynatrace\/abc12345-pull-secret/,
    remedy: /delete it: the operator creates it again/,
  },
  {
    name: 'the certificate of the registry is not trusted',
    plant: async (stage) => {
      const other = await startTenantSimulator({ tenants: [{ id: TENANT }] })
      const image = `${other.registry.host}/dynatrace/dynatrace-activegate:1`
      const undo = await stage.editDynaKube({ activeGate: { capabilities: ['routing'], image } })
      return async () => {
        await undo()
        await other.close()
      }
    },
    check: 'dynakube.imagepull',
    message: /image of ActiveGate \(custom image\) cannot be pulled: .*certificate/,
    remedy: /spec\.trustedCAs/,
  },
  {
    name: 'the pull secret has the wrong password',
    plant: async (stage) => {
      const auths = { [stage.simulator.registry.host]: { auth: Buffer.from(`${TENANT}:wrong`).toString('base64') } }
      return instead(secret(`${TENANT}-pull-secret`, { '.dockerconfigjson': JSON.stringify({ auths }) }))(stage)
    },
    check: 'dynakube.imagepull',
    message: /image of OneAgent cannot be pulled: .*401/,
    remedy: /the pull secret/,
  },
  {
    name: 'an image does not exist',
    plant: (stage) =>
      stage.editDynaKube({
        activeGate: { capabilities: ['routing'], image: `${stage.simulator.registry.host}/dynatrace/absent:1` },
      }),
    check: 'dynakube.imagepull',
    message: /image of ActiveGate \(custom image\) cannot be pulled: .*404/,
    remedy: /check the name of the image/,
  },
  {
    name: 'the Secret of the proxy is missing',
    plant: (stage) => stage.editDynaKube({ proxy: { valueFrom: 'absent' } }),
    check: 'dynakube.proxy',
    message: /absent/,
    remedy: /./,
  },
  {
    name: 'the proxy cannot be reached',
    plant: (stage) =>
      stage.editDynaKube({
        // Addresses of this machine are never reached through a proxy.
        apiUrl: `https://tenant.example.com/e/${TENANT}/api`,
        proxy: { value: `http://user:hunter22@${CLOSED}` },
      }),
    check: 'dynakube',
    message: /the proxy 127\.0\.0\.1:9 cannot be used/,
    remedy: /check its address/,
  },
  {
    name: 'the process environment has another proxy',
    plant: nothing,
    env: { HTTPS_PROXY: 'http://other:3128', NO_PROXY: '*' },
    check: 'dynakube.proxy',
    status: 'warning',
    message: /process environment has HTTPS_PROXY/,
    remedy: /spec\.proxy/,
  },
  {
    name: 'the Secret with the certificate of the webhook was deleted',
    plant: without(Secrets, key('dynatrace-webhook-certs')),
    check: 'webhook',
    message: /dynatrace-webhook-certs does not exist/,
    remedy: /check that the operator runs/,
  },
  {
    name: 'the operator is not installed, but its webhook is',
    plant: without(Deployments, key('dynatrace-operator')),
    check: 'operator',
    message: /dynatrace-operator does not exist: nothing is reconciled/,
    remedy: /install or upgrade the chart/,
  },
  {
    name: 'the CRD is of another release',
    plant: async ({ client }) => {
      const target = { name: 'dynakubes.dynatrace.com' }
      const label = (version: string | null) =>
        client.patch(CustomResourceDefinitions, target, {
          type: 'merge',
          patch: { metadata: { labels: { 'app.kubernetes.io/version': version } } },
        })
      const before = (await client.get(CustomResourceDefinitions, target)).metadata.labels?.[
        'app.kubernetes.io/version'
      ]
      await label('0.0.1')
      return async () => void (await label(before ?? null))
    },
    env: { APP_VERSION: '0.1.0' },
    check: 'operator',
    message: /is of the release 0\.0\.1, the operator of 0\.1\.0/,
    remedy: /apply the CRDs of 0\.1\.0/,
    status: 'warning',
  },
  {
    name: 'a quota, a policy or a missing account keeps the cluster from creating agents',
    plant: async ({ client, apply }) => {
      const labels = { agent: 'refused' }
      const metadata = { ...key('refused'), labels: { 'app.kubernetes.io/managed-by': 'dynatrace-operator' } }
      const spec = { serviceAccountName: 'absent', containers: [{ name: 'agent', image: 'agent:1' }] }
      const template = { metadata: { labels }, spec }
      await apply({
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata,
        ...{ spec: { selector: { matchLabels: labels }, template } },
      })
      await until('the refusal', async () => {
        const { items } = await client.list(Events, { namespace: NAMESPACE, fieldSelector: 'reason=FailedCreate' })
        return items.some(({ involvedObject }) => involvedObject?.name === 'refused')
      })
      return async () => void (await client.delete(DaemonSets, key('refused'), { propagationPolicy: 'Background' }))
    },
    check: 'pods',
    message: /DaemonSet dynatrace\/refused lacks 2 pods, which the cluster refuses to create: .*absent/,
    remedy: /upgrade the chart/,
  },
  {
    name: 'the token has quotes around it',
    plant: instead(secret(TENANT, { apiToken: '"dt0c01.NEVERISSUED.NEVERISSUED"' })),
    check: 'dynakube',
    message: /the tenant rejects apiToken/,
    remedy: /without quotes, prefix or base64/,
  },
  {
    name: 'the certificate of gateways is in a Secret that does not exist',
    plant: ({ editDynaKube }) => editDynaKube({ activeGate: { capabilities: ['routing'], tlsSecretName: 'absent' } }),
    check: 'dynakube',
    message: /spec\.activeGate\.tlsSecretName: the Secret dynatrace\/absent does not exist/,
    remedy: /create it, or correct spec\.activeGate\.tlsSecretName/,
  },
  {
    name: 'the Secret with properties of gateways lacks its key',
    plant: async ({ apply, client, editDynaKube }) => {
      await apply(secret('properties', { other: 'value' }))
      const undo = await editDynaKube({
        activeGate: { capabilities: ['routing'], customProperties: { valueFrom: 'properties' } },
      })
      return async () => {
        await undo()
        await client.delete(Secrets, key('properties'))
      }
    },
    check: 'dynakube',
    message: /the Secret dynatrace\/properties has no key customProperties/,
    remedy: /add it/,
  },
  {
    name: 'a DynaKube waits for a finalizer of a program that is gone',
    plant: async (stage) => {
      const { client } = stage
      await addDynaKube(stage, {})
      const finalizers = (names: readonly string[]) =>
        client.patch(DynaKubes, key('second'), { type: 'merge', patch: { metadata: { finalizers: names } } })
      await finalizers(['example.com/keep'])
      await client.delete(DynaKubes, key('second'))
      return async () => void (await finalizers([]))
    },
    check: 'dynakube',
    message: /is being deleted since .*, and waits for the finalizers example\.com\/keep/,
    remedy: /check the log of the operator/,
  },
  {
    name: 'the pod opts out of injection',
    plant: async ({ apply, client }) => {
      await apply(pod('silent', { 'dynatrace.com/inject': 'false' }))
      return async () => void (await client.delete(Pods, { namespace: 'shop', name: 'silent' }))
    },
    args: ['--pod', 'shop/silent'],
    check: 'pod',
    status: 'warning',
    message: /does not get code modules/,
    remedy: /change Pod metadata\.annotations\[dynatrace\.com\/inject\]/,
  },
  {
    name: 'the pod is older than the DynaKube',
    plant: async ({ apply, client }) => {
      await apply(pod('old'))
      await apply({
        ...secret('dynatrace-bootstrapper-config', {}),
        metadata: { namespace: 'shop', name: 'dynatrace-bootstrapper-config' },
      })
      await apply({
        ...secret('dynatrace-bootstrapper-certs', {}),
        metadata: { namespace: 'shop', name: 'dynatrace-bootstrapper-certs' },
      })
      return async () => void (await client.delete(Pods, { namespace: 'shop', name: 'old' }))
    },
    args: ['--pod', 'shop/old'],
    check: 'pod',
    message: /does not have code modules, although it would get them now/,
    remedy: /recreate the pod/,
  },
  {
    name: 'no DynaKube selects the namespace of the pod',
    plant: async ({ apply, client }) => {
      await apply({ ...pod('x'), metadata: { namespace: 'elsewhere', name: 'x' } })
      return async () => void (await client.delete(Pods, { namespace: 'elsewhere', name: 'x' }))
    },
    args: ['--pod', 'elsewhere/x'],
    check: 'pod',
    message: /no DynaKube selects the namespace elsewhere/,
    remedy: /namespaceSelector/,
  },
]
