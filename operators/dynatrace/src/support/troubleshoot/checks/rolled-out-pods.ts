/** Pods of the operator and those that it rolled out: which of them crash, cannot be started or have no node. */
import { type Pod, Pods, type Stored } from '@reeve/kube'
import { FIELD_MANAGER } from '../../../installed-names.ts'
import { bounded, reporterOf, type TroubleshootContext } from '../context.ts'

/** A pod is on its way. */
const STARTING = new Set(['ContainerCreating', 'PodInitializing'])
/** The kernel ended a container that exceeded its memory limit, also if it has been started again since. */
const OUT_OF_MEMORY = 'OOMKilled'
/** Images cannot be pulled. */
const PULL = /Image/
/** Problems in one report: agents on a thousand nodes mostly have the same. */
const MAX_PROBLEMS = 20

/** Containers of the CSI driver whose values have another name. */
const CSI_VALUES: Readonly<Record<string, string>> = { 'csi-init': 'csiInit', 'liveness-probe': 'livenessprobe' }

interface Problem {
  readonly reason: string
  readonly container?: string
  readonly message: string
}

/** Reports each problem once per workload, with one of its pods. */
export async function checkRolledOutPods(context: TroubleshootContext): Promise<void> {
  const { client, namespace } = context
  const labelled = async (label: string) =>
    (
      await client.listAll(Pods, {
        namespace,
        labelSelector: `app.kubernetes.io/${label}=${FIELD_MANAGER}`,
        ...bounded(context),
      })
    ).items
  const own = await labelled('name')
  const rolledOut = await labelled('managed-by')
  const pods = [...new Map([...rolledOut, ...own].map((pod) => [pod.metadata.name, pod])).values()]
  if (pods.length === 0) return
  const reporter = reporterOf(context, 'pods')
  reporter.start('checking the pods of the operator and those that it rolled out ...')
  const found = new Map<string, { readonly pod: Stored<Pod>; readonly problem: Problem; count: number }>()
  for (const pod of pods) {
    const problem = problemOf(pod)
    if (problem === undefined) continue
    const owner = pod.metadata.ownerReferences?.[0]
    const key = `${owner?.kind ?? 'Pod'} ${namespace}/${owner?.name ?? pod.metadata.name}: ${problem.reason}`
    const known = found.get(key)
    if (known === undefined) found.set(key, { pod, problem, count: 1 })
    else known.count += 1
  }
  for (const [key, { pod, problem, count }] of [...found].slice(0, MAX_PROBLEMS)) {
    const { message } = problem
    reporter.error(
      `${count} ${count === 1 ? 'pod' : 'pods'} of the ${key}, such as ${pod.metadata.name}${message && ` (${message})`}`,
      remedyOf(namespace, pod, problem),
    )
  }
  if (found.size === 0) reporter.ok(`no pod of ${pods.length} of the operator and of what it rolled out fails`)
}

function problemOf({ status }: Pod): Problem | undefined {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  for (const { name, state, lastState } of statuses) {
    const ended = [state?.terminated, lastState?.terminated].find((one) => one?.reason === OUT_OF_MEMORY)
    if (ended !== undefined) return { reason: OUT_OF_MEMORY, container: name, message: 'its memory limit is too low' }
    const { reason = '', message = '' } = state?.waiting ?? {}
    if (reason !== '' && !STARTING.has(reason)) return { reason, container: name, message }
  }
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'False') return undefined
  return { reason: scheduled.reason ?? 'Unschedulable', message: scheduled.message ?? '' }
}

function remedyOf(namespace: string, { metadata }: Stored<Pod>, { reason, container }: Problem): string {
  const pod = metadata.name
  const values = chartValuesOf(metadata.labels ?? {}, container)
  const describe = `kubectl describe pod -n ${namespace} ${pod}`
  if (container === undefined) {
    const where = values?.scheduling ?? 'resources, nodeSelector or tolerations in the DynaKube'
    return `add nodes, or change ${where}: ${describe}`
  }
  if (reason === OUT_OF_MEMORY) {
    return `raise ${values?.memory ?? 'the memory limit of its resources in the DynaKube'}: ${describe}`
  }
  if (PULL.test(reason)) return `check the image and its pull secret: ${describe}`
  if (reason.includes('Config')) return `create the Secret or ConfigMap that it names: ${describe}`
  return `read why it stopped: kubectl logs -n ${namespace} ${pod} -c ${container} --previous`
}

/** Where the chart sets the resources of the operator's own pods; `undefined` for pods that it rolled out. */
function chartValuesOf(labels: Readonly<Record<string, string>>, container = '') {
  if (labels['app.kubernetes.io/name'] !== FIELD_MANAGER) return undefined
  const component = labels['app.kubernetes.io/component']
  if (component === 'csi-driver') {
    const name = CSI_VALUES[container] ?? container
    const scheduling = 'csidriver.nodeSelector or csidriver.tolerations of the chart'
    return { memory: `csidriver.${name}.resources.limits.memory of the chart`, scheduling }
  }
  const name = component === 'webhook' ? 'webhook' : 'operator'
  const scheduling = ['requests', 'nodeSelector', 'tolerations'].map((key) => `${name}.${key}`).join(', ')
  return { memory: `${name}.limits.memory of the chart`, scheduling: `${scheduling} of the chart` }
}
