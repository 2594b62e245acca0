/** Whether the Operator Lifecycle Manager installed the operator: then it mounts certificates itself. */
import { type KubeClient, type KubeObject, Pods } from '@reeve/kube'

/** Set on pods by the Operator Lifecycle Manager. */
const ANNOTATION = 'olm.operatorNamespace'

/** Whether the Operator Lifecycle Manager made a pod. */
export const isOlmPod = ({ metadata }: KubeObject): boolean => metadata.annotations?.[ANNOTATION] !== undefined

/** Reads the pod of this process; outside a cluster there is none. */
export async function isManagedByOlm(
  client: KubeClient,
  { namespace, podName: name }: { readonly namespace: string; readonly podName: string | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  if (!name) return false
  return isOlmPod(await client.get(Pods, { namespace, name }, { signal, metadataOnly: true }))
}
