/** Tells whether the Operator Lifecycle Manager installed the operator: then it mounts certificates itself. */
import { type KubeClient, Pods } from '@reeve/kube'

/** Set on pods by the Operator Lifecycle Manager. */
const ANNOTATION = 'olm.operatorNamespace'

/** Asks the pod of this process; outside a cluster there is none. */
export async function isManagedByOlm(
  client: KubeClient,
  { namespace, podName: name }: { readonly namespace: string; readonly podName: string | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  if (!name) return false
  const { metadata } = await client.get(Pods, { namespace, name }, { signal, metadataOnly: true })
  return metadata.annotations?.[ANNOTATION] !== undefined
}
