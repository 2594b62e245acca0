/** Pods that the operator rolled out: those that crash, cannot be started or have no node. */
import { type Pod, Pods } from '@reeve/kube'
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

interface Problem {
  readonly reason: string
  readonly container?: string
  readonly message: string
}

/** Reports each problem once per workload, with one of its pods. */
export async function checkRolledOutPods(context: TroubleshootContext): Promise<void> {
  const { client, namespace } = context
  const labelSelector = `app.kubernetes.io/managed-by=${FIELD_MANAGER}`
  const { items } = await client.listAll(Pods, { namespace, labelSelector, ...bounded(context) })
  if (items.length === 0) return
  const reporter = reporterOf(context, 'pods')
  reporter.start('checking the pods that the operator rolled out ...')
  const found = new Map<string, { readonly pod: string; readonly problem: Problem; count: number }>()
  for (const pod of items) {
    const problem = problemOf(pod)
    if (problem === undefined) continue
    const owner = pod.metadata.ownerReferences?.[0]
    const key = `${owner?.kind ?? 'Pod'} ${namespace}/${owner?.name ?? pod.metadata.name}: ${problem.reason}`
    const known = found.get(key)
    if (known === undefined) found.set(key, { pod: pod.metadata.name, problem, count: 1 })
    else known.count += 1
  }
  for (const [key, { pod, problem, count }] of [...found].slice(0, MAX_PROBLEMS)) {
    const { message } = problem
    reporter.error(
      `${count} ${count === 1 ? 'pod' : 'pods'} of the ${key}, such as ${pod}${message && ` (${message})`}`,
      remedyOf(namespace, pod, problem),
    )
  }
  if (found.size === 0) reporter.ok(`no pod of ${items.length} that the operator rolled out fails`)
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

function remedyOf(namespace: string, pod: string, { reason, container }: Problem): string {
  if (container === undefined) {
    return `add nodes, or change resources, nodeSelector or tolerations in the DynaKube: kubectl describe pod -n ${namespace} ${pod}`
  }
  if (reason === OUT_OF_MEMORY)
    return `raise the memory limit of its resources in the DynaKube: kubectl describe pod -n ${namespace} ${pod}`
  if (PULL.test(reason)) return `check the image and its pull secret: kubectl describe pod -n ${namespace} ${pod}`
  if (reason.includes('Config')) {
    return `create the Secret or ConfigMap that it names: kubectl describe pod -n ${namespace} ${pod}`
  }
  return `read why it stopped: kubectl logs -n ${namespace} ${pod} -c ${container} --previous`
}
