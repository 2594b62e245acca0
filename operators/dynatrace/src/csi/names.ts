/** Names by which the kubelet and the parts of the CSI driver know each other. */

/** The name of the driver: of its CSIDriver object, its plugin, and in the volumes of pods. */
export const DRIVER_NAME = 'csi.oneagent.dynatrace.com'

/** The name of the driver's DaemonSet, service account and roles. */
export const DRIVER_OBJECTS = 'dynatrace-oneagent-csi-driver'

/** Where all containers of the driver find the data directory of the node. */
export const DATA_ROOT = '/data'

/** The socket of the driver, in its containers. */
export const CSI_SOCKET = '/csi/csi.sock'

/** The same socket on a node whose kubelet has its usual place. */
export const KUBELET_SOCKET = `/var/lib/kubelet/plugins/${DRIVER_NAME}/csi.sock`

/** Where the kubelet looks for plugins, in the container of the registrar. */
export const REGISTRATION_DIRECTORY = '/registration'

/** The namespace of operator and DynaKubes where `POD_NAMESPACE` does not name it. */
export const DEFAULT_NAMESPACE = 'dynatrace'

/** Attributes of a volume, from the pod and from the kubelet. */
export const VOLUME_ATTRIBUTES = Object.freeze({
  mode: 'mode',
  dynakube: 'dynakube',
  retryTimeout: 'retryTimeout',
  podName: 'csi.storage.k8s.io/pod.name',
  podNamespace: 'csi.storage.k8s.io/pod.namespace',
})
