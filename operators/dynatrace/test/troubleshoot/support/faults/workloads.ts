/** The CSI driver, and pods that fail. */
import { CsiDrivers, DaemonSets, Events, Nodes, Pods } from '@reeve/kube'
import { until } from '../../../support/until.ts'
import { type HealthyStage, NAMESPACE, pod } from '../healthy-stage.ts'
import { key, type PlantedFault, without } from './planted-fault.ts'

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

/** The CSI driver, and pods that fail. */
export const WORKLOAD_FAULTS: readonly PlantedFault[] = [
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
]
