/** What the operator makes of a DynaKube, without what differs between two installations of the same. */
import { withoutChance } from '../../../exploration/normalise.ts'
import type { ClosedStage, Plain } from './closed-stage.ts'

const RESOURCES = [
  'configmaps',
  'secrets',
  'services',
  'namespaces',
  'daemonsets.apps',
  'deployments.apps',
  'statefulsets.apps',
] as const

/** Annotations about the history of an object. */
const HISTORY = new Set([
  'reeve.dev/created-from',
  'deployment.kubernetes.io/revision',
  'deprecated.daemonset.template.generation',
  // Written on namespaces for the webhook, which removes it; it stays where none runs.
  'dynatrace.com/updated-via-operator',
])

/** All objects of the cluster by resource, namespace and name, and what the status of the DynaKube says. */
export async function lookAt(stage: ClosedStage): Promise<ReadonlyMap<string, Plain>> {
  return new Map([...objectsOf(stage), ['status', await statusOf(stage)]])
}

/** All objects of the cluster by resource, namespace and name. */
export function objectsOf(stage: ClosedStage): ReadonlyMap<string, Plain> {
  const { api } = stage.world.cluster
  const owner = api.get('dynakubes.dynatrace.com', 'dynatrace', 'cluster') as { metadata: { uid: string } } | undefined
  const entries = RESOURCES.flatMap((resource) =>
    api.list(resource).map((object): [string, Plain] => {
      const { namespace = '', name } = object.metadata as { namespace?: string; name: string }
      return [`${resource} ${namespace}/${name}`, normalised(resource, object, owner?.metadata.uid)]
    }),
  )
  return new Map(entries)
}

function normalised(resource: string, object: Plain, ownerUid: string | undefined): Plain {
  const { metadata, spec, status: _, ...rest } = withoutChance(resource, object) as Record<string, Plain | undefined>
  const { labels, annotations, ownerReferences, name, namespace } = metadata ?? {}
  const lasting = Object.entries(annotations ?? {}).filter(([key]) => !HISTORY.has(key))
  const owners = (ownerReferences ?? []) as readonly Plain[]
  return {
    ...rest,
    ...(spec && { spec: resource === 'services' ? withoutAddresses(spec) : spec }),
    metadata: {
      name,
      namespace,
      labels: labels ?? {},
      annotations: Object.fromEntries(lasting),
      owners: owners.map(({ uid, kind, controller }) => ({ kind, controller, isCurrent: uid === ownerUid })),
    },
  }
}

function withoutAddresses({ clusterIP: _, clusterIPs: __, ...spec }: Plain): Plain {
  return spec
}

/** Members of the status that outlive what they were for. */
const STICKY = ['kubernetesClusterMEID', 'kubernetesClusterName', 'updatedTimestamp', 'phase']

/** Conditions that change only when the tenant is called again, or are never removed. */
const STICKY_CONDITIONS = new Set(['MonitoredEntity', 'ApiTokenSettingsRead', 'ApiTokenSettingsWrite'])

/** What the status says about features: which parts it has, and which conditions with which status. */
async function statusOf(stage: ClosedStage): Promise<Plain> {
  const { status = {} } = await stage.read()
  const conditions = (status.conditions ?? [])
    .filter(({ type }) => !STICKY_CONDITIONS.has(type))
    .map(({ type, status: value }) => `${type}=${value}`)
    .sort()
  const parts = Object.entries(status).filter(([name]) => name !== 'conditions' && !STICKY.includes(name))
  return { conditions, ...(JSON.parse(JSON.stringify(Object.fromEntries(parts), withoutTimes)) as Plain) }
}

function withoutTimes(key: string, value: unknown): unknown {
  if (key === 'lastProbeTimestamp' || key === 'lastTokenScopeRequest' || key.startsWith('lastInstance')) return 'then'
  if (key === 'podName') return 'pod'
  return key === 'serviceIPs' ? 'addresses' : value
}
