/** The CSI driver, node by node: pods with its volumes only start where it is registered. */
import { CsiDrivers, CsiNodes, DaemonSets, isForbidden, Nodes, Pods } from '@reeve/kube'
import { needsAppInjection } from '../../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { DRIVER_NAME, DRIVER_OBJECTS } from '../../../csi/names.ts'
import { bounded, FORBIDDEN_REMEDY, find, reporterOf, type TroubleshootContext } from '../context.ts'
import type { CheckReporter } from '../finding.ts'

/** Nodes that are named in one line. */
const MAX_NAMED = 10

/** Checks the driver, if it is installed and a DynaKube injects pods. */
export async function checkCsiDriver(context: TroubleshootContext, dynakubes: readonly DynaKube[]): Promise<void> {
  const reporter = reporterOf(context, 'csi')
  if (!dynakubes.some(needsAppInjection)) return
  reporter.start('checking the CSI driver ...')
  if (!context.modules.csiDriver) {
    reporter.info('the CSI driver is not installed: injected pods download the code modules themselves')
    return
  }
  const { namespace } = context
  const isInstalled = await orForbidden(find(context, CsiDrivers, { name: DRIVER_NAME }).then(Boolean))
  // An account that may not read it may not list CSINodes either, which is reported below.
  if (isInstalled === false) {
    reporter.error(`the CSIDriver ${DRIVER_NAME} does not exist`, 'upgrade the chart with csidriver.enabled=true')
  }
  const daemonSet = await find(context, DaemonSets, { namespace, name: DRIVER_OBJECTS })
  if (daemonSet === undefined) {
    const remedy = 'upgrade the chart with csidriver.enabled=true'
    reporter.error(`the DaemonSet ${namespace}/${DRIVER_OBJECTS} does not exist: injected pods cannot start`, remedy)
    return
  }
  const { desiredNumberScheduled = 0 } = daemonSet.status ?? {}
  if (desiredNumberScheduled === 0) {
    const remedy = 'check csidriver.nodeSelector and csidriver.tolerations of the chart'
    reporter.error(`no node matches the DaemonSet ${namespace}/${DRIVER_OBJECTS}`, remedy)
    return
  }
  await checkNodes(context, reporter)
}

async function checkNodes(context: TroubleshootContext, reporter: CheckReporter): Promise<void> {
  const { client, namespace } = context
  const { items } = await client.listAll(Pods, {
    namespace,
    labelSelector: 'internal.oneagent.dynatrace.com/app=csi-driver',
    ...bounded(context),
  })
  const ofNode = new Map(items.map((pod) => [pod.spec?.nodeName ?? '', pod]))
  const nodes = await nodeNames(context, reporter)
  if (nodes === undefined) return
  const isReady = (node: string) =>
    ofNode.get(node)?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
  const withoutPod = nodes.filter((node) => !ofNode.has(node))
  const unready = nodes.filter((node) => ofNode.has(node) && !isReady(node))
  const registered = await orForbidden(registeredNodes(context))
  const unregistered = registered === undefined ? [] : nodes.filter((node) => isReady(node) && !registered.has(node))
  if (registered === undefined) {
    const message = 'whether the kubelets know the CSI driver is not checked: this account may not list CSINodes'
    reporter.warning(message, FORBIDDEN_REMEDY)
  }
  const describe = `kubectl describe pods -n ${namespace} -l internal.oneagent.dynatrace.com/app=csi-driver`
  if (withoutPod.length > 0) {
    const remedy = 'if injected pods run there, extend csidriver.tolerations or csidriver.nodeSelector of the chart'
    reporter.warning(`no pod of the CSI driver runs on ${named(withoutPod)}`, remedy)
  }
  if (unready.length > 0) {
    reporter.error(
      `the CSI driver is not ready on ${named(unready)}: injected pods cannot start there`,
      `look at its pods: ${describe}`,
    )
  }
  if (unregistered.length > 0) {
    const remedy = 'check csidriver.kubeletPath of the chart, and the log of the container registrar'
    reporter.error(`the kubelet does not know the CSI driver on ${named(unregistered)}`, remedy)
  }
  const working = nodes.length - withoutPod.length - unready.length - unregistered.length
  if (working > 0) reporter.ok(`the CSI driver is ready on ${working} of ${nodes.length} nodes`)
}

async function nodeNames(
  context: TroubleshootContext,
  reporter: CheckReporter,
): Promise<readonly string[] | undefined> {
  const list = await orForbidden(context.client.listAll(Nodes, { metadataOnly: true, ...bounded(context) }))
  if (list === undefined) {
    reporter.warning('the nodes of the CSI driver are unknown: this account may not list nodes', FORBIDDEN_REMEDY)
  }
  return list?.items.map(({ metadata }) => metadata.name)
}

/** The nodes whose kubelet knows the driver. */
async function registeredNodes(context: TroubleshootContext): Promise<ReadonlySet<string>> {
  const { items } = await context.client.listAll(CsiNodes, bounded(context))
  const found = items.filter(({ spec }) => (spec.drivers ?? []).some(({ name }) => name === DRIVER_NAME))
  return new Set(found.map(({ metadata }) => metadata.name))
}

/** `undefined` if this account may not read it. */
async function orForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isForbidden(error)) return undefined
    throw error
  }
}

function named(nodes: readonly string[]): string {
  const shown = nodes.slice(0, MAX_NAMED).join(', ')
  return nodes.length > MAX_NAMED ? `${shown} and ${nodes.length - MAX_NAMED} more nodes` : shown
}
