/** What the kubelet sends to the CSI driver. */
import { bytesField, message, textField } from '@reeve/dynatrace/csi'

/** Publishes a volume with an agent of the DynaKube `dk`. */
export function publishRequest(id: string, target: string): Uint8Array {
  const capability = bytesField(5, bytesField(2, new Uint8Array()))
  const attributes = {
    mode: 'app',
    dynakube: 'dk',
    'csi.storage.k8s.io/pod.name': id,
    'csi.storage.k8s.io/pod.namespace': 'shop',
  }
  const context = Object.entries(attributes).map(([key, value]) =>
    bytesField(8, message(textField(1, key), textField(2, value))),
  )
  return message(textField(1, id), textField(4, target), capability, ...context)
}

/** Unpublishes a volume. */
export function unpublishRequest(id: string, target: string): Uint8Array {
  return message(textField(1, id), textField(2, target))
}
