/** Workloads that the operator rolled out and whose pods the cluster refuses to create. */
import { DaemonSets, Deployments, Events, isForbidden, type KubeObject, type Resource, StatefulSets } from '@reeve/kube'
import { FIELD_MANAGER } from '../../../installed-names.ts'
import { bounded, reporterOf, type TroubleshootContext } from '../context.ts'

interface Counted extends KubeObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly replicas?: number
    readonly desiredNumberScheduled?: number
    readonly currentNumberScheduled?: number
  }
}

/** Reports workloads with fewer pods than they should have, with the reason of the cluster. */
export async function checkWorkloads(context: TroubleshootContext): Promise<void> {
  const reporter = reporterOf(context, 'pods')
  const { client, namespace } = context
  const labelSelector = `app.kubernetes.io/managed-by=${FIELD_MANAGER}`
  let reasons: ReadonlyMap<string, string> | undefined
  for (const resource of [DaemonSets, StatefulSets, Deployments] as const) {
    // Three kinds, of which only what they have in common is read.
    const kind = resource as Resource<Counted>
    const { items } = await client.listAll(kind, { namespace, labelSelector, ...bounded(context) })
    for (const workload of items) {
      const missing = missingPods(workload)
      if (missing <= 0) continue
      reasons ??= await refusals(context)
      const { name } = workload.metadata
      const reason = reasonOf(reasons, name)
      // Without a refusal they are about to be created.
      if (reason === undefined) continue
      reporter.error(
        `the ${kind.kind} ${namespace}/${name} lacks ${missing} ${missing === 1 ? 'pod' : 'pods'}, which the cluster refuses to create: ${reason}`,
        remedyOf(reason, namespace),
      )
    }
  }
}

function missingPods({ spec, status }: Counted): number {
  const { desiredNumberScheduled, currentNumberScheduled = 0, replicas = 0 } = status ?? {}
  if (desiredNumberScheduled !== undefined) return desiredNumberScheduled - currentNumberScheduled
  return (spec?.replicas ?? 1) - replicas
}

/** The latest refusal of each object. The account may lack the permission to read events; then there are none. */
async function refusals(context: TroubleshootContext): Promise<ReadonlyMap<string, string>> {
  const { client, namespace } = context
  const fieldSelector = 'type=Warning,reason=FailedCreate'
  try {
    const { items } = await client.list(Events, { namespace, fieldSelector, limit: 500, ...bounded(context) })
    return new Map(items.map(({ involvedObject, message = '' }) => [involvedObject?.name ?? '', message]))
  } catch (error) {
    if (isForbidden(error)) return new Map()
    throw error
  }
}

/** Pods of a Deployment are created by a ReplicaSet, whose name continues that of the Deployment. */
function reasonOf(reasons: ReadonlyMap<string, string>, name: string): string | undefined {
  const own = reasons.get(name)
  if (own !== undefined) return own
  for (const [object, reason] of reasons) if (object.startsWith(`${name}-`)) return reason
  return undefined
}

function remedyOf(reason: string, namespace: string): string {
  if (/serviceaccount/i.test(reason))
    return 'upgrade the chart with the rbac values of this feature, which create the account'
  if (/violates PodSecurity/.test(reason)) {
    return `allow privileged pods: kubectl label namespace ${namespace} --overwrite pod-security.kubernetes.io/enforce=privileged`
  }
  if (/quota/i.test(reason)) return `raise the quota: kubectl describe resourcequota -n ${namespace}`
  return 'correct what the message names'
}
