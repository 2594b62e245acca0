/** Finds the Deployment that this operator is a pod of. */

import type { KubeObject } from '@reeve/kube'
import {
  type Deployment,
  Deployments,
  type KubeClient,
  Pods,
  ReplicaSets,
  type Resource,
  type Stored,
} from '@reeve/kube'

/** A pod without the Deployment that it was expected to belong to. */
class OperatorDeploymentError extends Error {
  readonly code = 'OPERATOR_DEPLOYMENT_UNKNOWN'
  override readonly name = 'OperatorDeploymentError'
}

/**
 * The Deployment of a pod, as metadata only.
 *
 * *Errors*: {@link OperatorDeploymentError} naming the object without a controller; those of the API server.
 */
export async function deploymentOfPod(
  client: KubeClient,
  pod: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Stored<Deployment>> {
  const { namespace } = pod
  const read = <T extends KubeObject>(resource: Resource<T>, name: string) =>
    client.get(resource, { namespace, name }, { signal, metadataOnly: true })
  const replicaSet = await read(ReplicaSets, ownerName(await read(Pods, pod.name), ReplicaSets))
  const { metadata } = await read(Deployments, ownerName(replicaSet, Deployments))
  // A metadata-only response has the kind PartialObjectMetadata, which cannot be referenced.
  return { apiVersion: 'apps/v1', kind: Deployments.kind, metadata }
}

function ownerName({ kind, metadata }: KubeObject, { kind: ownerKind }: Resource): string {
  const owner = metadata.ownerReferences?.find(({ controller, kind }) => controller === true && kind === ownerKind)
  if (owner !== undefined) return owner.name
  throw new OperatorDeploymentError(
    `${kind} ${metadata.namespace}/${metadata.name} belongs to no ${ownerKind}: run the operator as a Deployment, ` +
      'or set RUN_LOCAL=true outside a cluster',
  )
}
