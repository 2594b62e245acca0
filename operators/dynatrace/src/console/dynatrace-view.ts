/** What a console shows about tenants: tokens, versions, calls, injected pods, and the CSI driver on each node. */
import { isForbidden, type KubeClient, Namespaces, type Pod, Pods } from '@reeve/kube'
import { formatTime } from '@reeve/runtime'
import type { OperatorView, ViewCell, ViewSection, ViewSource } from '@reeve/runtime/operator'
import { type DynaKube, DynaKubes } from '../api/latest.ts'
import { INSTANCE_LABEL } from '../controllers/dynakube/components/injection/map-namespaces.ts'
import { SCOPE_CONDITIONS } from '../controllers/dynakube/components/tenant/optional-scopes.ts'
import { TOKENS_CONDITION } from '../controllers/dynakube/components/tenant/verify-tokens.ts'
import { FEATURES } from '../webhooks/pods/annotations.ts'
import type { TenantCalls } from './tenant-calls.ts'

/** Namespaces whose pods are listed; a cluster may have thousands. */
const MAX_NAMESPACES = 50

/** The pods of the CSI driver, as the chart labels them. */
const CSI_PODS = 'app.kubernetes.io/component=csi-driver'

/**
 * The view.
 *
 * @example
 * views: [dynatraceView(calls, 'dynatrace')]
 */
export function dynatraceView(calls: TenantCalls, namespace: string): OperatorView {
  return {
    id: 'dynatrace',
    title: 'Dynatrace',
    read: async (source) => {
      const dynakubes = source.cache.list(DynaKubes)
      return [
        tokens(dynakubes),
        versions(dynakubes),
        callsSection(calls),
        await injected(source),
        await csiDriver(source.client, namespace, source.signal),
      ]
    },
  }
}

function tokens(dynakubes: readonly DynaKube[]): ViewSection {
  const shown = [TOKENS_CONDITION, ...SCOPE_CONDITIONS]
  return {
    type: 'table',
    title: 'Tokens and scopes',
    empty: 'There are no DynaKubes.',
    columns: ['DynaKube', 'Tenant', 'About', 'State', 'Message', 'Scopes looked up'],
    rows: dynakubes.flatMap(({ metadata: { name = '' }, spec, status }) =>
      (status?.conditions ?? [])
        .filter(({ type }) => shown.includes(type))
        .map(({ type, status: value, reason, message }) => [
          name,
          status?.oneAgent?.connectionInfoStatus?.tenantUUID ?? spec.apiUrl,
          type,
          { text: reason, tone: value === 'True' ? 'good' : 'bad' } satisfies ViewCell,
          message,
          status?.dynatraceApi?.lastTokenScopeRequest ?? '',
        ]),
    ),
  }
}

function versions(dynakubes: readonly DynaKube[]): ViewSection {
  const parts = ['oneAgent', 'activeGate', 'codeModules'] as const
  const rows = dynakubes.flatMap(({ metadata: { name = '' }, status }) =>
    parts.flatMap((part) => {
      const { version, source = '', imageID = '', lastProbeTimestamp = '' } = status?.[part] ?? {}
      return version === undefined ? [] : [[name, part, version, source, imageID, lastProbeTimestamp]]
    }),
  )
  const columns = ['DynaKube', 'Component', 'Version', 'Source', 'Image', 'Looked up']
  return { type: 'table', title: 'Versions', empty: 'No version is known yet.', columns, rows }
}

function callsSection(calls: TenantCalls): ViewSection {
  return {
    type: 'table',
    title: 'Calls to tenants',
    empty: 'No call was made since the operator was started.',
    columns: ['Call', 'Count', 'Failed', 'Last result', 'Last', 'Longest'],
    rows: calls
      .list()
      .map(({ call, count, failed, last, lastMs, longestMs }) => [
        call,
        String(count),
        failed === 0 ? '0' : { text: String(failed), tone: 'bad' },
        { text: last, tone: /^[23]/.test(last) ? 'good' : 'bad' },
        formatTime(lastMs),
        `${Math.round(longestMs)} ms`,
      ]),
  }
}

const NO_PODS = 'the operator may not list pods here: set console.readPods of its chart'

async function injected({ cache, client, signal }: ViewSource): Promise<ViewSection> {
  const namespaces = cache
    .list(Namespaces)
    .filter(({ metadata }) => metadata.labels?.[INSTANCE_LABEL] !== undefined)
    .slice(0, MAX_NAMESPACES)
  const rows: (string | ViewCell)[][] = []
  for (const { metadata } of namespaces) {
    const dynakube = metadata.labels?.[INSTANCE_LABEL] ?? ''
    const pods = await listPods(client, { namespace: metadata.name, signal })
    if (pods === undefined) {
      rows.push([metadata.name, dynakube, { text: 'unknown', detail: NO_PODS }, ''])
      continue
    }
    rows.push([metadata.name, dynakube, ...injectionOf(pods)])
  }
  return {
    type: 'table',
    title: 'Injected pods',
    empty: 'No namespace is injected.',
    columns: ['Namespace', 'DynaKube', 'Injected', 'Not injected, and why'],
    rows,
  }
}

/** How many pods have the code modules, and the reasons of those that do not. */
function injectionOf(pods: readonly Pod[]): readonly [ViewCell, ViewCell | string] {
  const { injected: result, reason } = FEATURES.codeModules
  const have = pods.filter(({ metadata }) => metadata.annotations?.[result] === 'true')
  const lack = pods.filter((pod) => !have.includes(pod))
  const reasons = new Map<string, number>()
  for (const { metadata } of lack) {
    const why = metadata.annotations?.[reason] ?? 'created before the namespace was injected, or excluded'
    reasons.set(why, (reasons.get(why) ?? 0) + 1)
  }
  const detail = [...reasons].map(([why, count]) => `${count}: ${why}`).join('; ')
  const text = `${have.length} of ${pods.length}`
  return [
    { text, tone: lack.length === 0 ? 'good' : 'warning' },
    lack.length === 0 ? '' : { text: String(lack.length), tone: 'warning', detail },
  ]
}

async function csiDriver(client: KubeClient, namespace: string, signal: AbortSignal): Promise<ViewSection> {
  const pods = await listPods(client, { namespace, labelSelector: CSI_PODS, signal })
  return {
    type: 'table',
    title: 'CSI driver by node',
    empty: pods === undefined ? 'The operator may not list pods.' : 'The CSI driver is not installed.',
    columns: ['Node', 'Pod', 'Containers ready', 'Restarts'],
    rows: (pods ?? []).map(({ metadata, spec, status }) => {
      const containers = status?.containerStatuses ?? []
      const ready = containers.filter((container) => container.ready).length
      const restarts = containers.reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0)
      const isReady = containers.length > 0 && ready === containers.length
      return [
        spec?.nodeName ?? 'not scheduled',
        metadata.name ?? '',
        { text: `${ready} of ${containers.length}`, tone: isReady ? 'good' : 'warning' },
        String(restarts),
      ]
    }),
  }
}

/** Undefined when the operator may not list them. */
async function listPods(
  client: KubeClient,
  options: { readonly namespace: string; readonly labelSelector?: string; readonly signal: AbortSignal },
): Promise<readonly Pod[] | undefined> {
  try {
    return (await client.listAll(Pods, options)).items
  } catch (error) {
    if (isForbidden(error)) return undefined
    throw error
  }
}
