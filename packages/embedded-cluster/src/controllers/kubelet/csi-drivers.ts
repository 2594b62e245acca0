/**
 * CSI drivers on simulated nodes. No container runs, so nothing opens a registration socket: a driver counts as
 * registered while a ready pod of the node has mounted both directories through which a real one registers.
 *
 * Pure and without dependencies: simulated nodes of other clusters use it as well.
 */

/** The fields of a volume that are read. */
export interface CsiVolume {
  readonly name: string
  readonly hostPath?: { readonly path: string }
  readonly csi?: { readonly driver: string }
}

/** The fields of a pod that are read. */
export interface CsiPod {
  readonly metadata: { readonly deletionTimestamp?: string }
  readonly spec: { readonly volumes?: readonly CsiVolume[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

const PLUGIN = /^(.*)\/plugins\/([^/]+)$/

/**
 * The drivers that the pod registers when it is ready: `<kubelet>/plugins/<driver>` beside `<kubelet>/plugins_registry`.
 *
 * @example
 * driversOf(driverPod) // ['csi.example.com']
 */
export function driversOf({ spec }: CsiPod): readonly string[] {
  const paths = (spec.volumes ?? []).flatMap(({ hostPath }) => hostPath?.path.replace(/\/+$/, '') ?? [])
  return paths.flatMap((path) => {
    const [, kubelet, driver] = PLUGIN.exec(path) ?? []
    return driver !== undefined && paths.includes(`${kubelet}/plugins_registry`) ? [driver] : []
  })
}

/** The drivers that the pods of one node have registered, sorted. */
export function registeredDrivers(pods: Iterable<CsiPod>): readonly string[] {
  const drivers = [...pods].filter(isServing).flatMap(driversOf)
  return [...new Set(drivers)].sort()
}

function isServing({ metadata, status }: CsiPod): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return metadata.deletionTimestamp === undefined && ready?.status === 'True'
}

/** Whether the pod has inline volumes of CSI drivers, so that it depends on their registration. */
export function hasCsiVolume({ spec }: CsiPod): boolean {
  return spec.volumes?.some(({ csi }) => csi !== undefined) ?? false
}

/** Why an inline volume of the pod cannot be mounted: the message of the kubelet's event `FailedMount`. */
export function csiMountFailure({ spec }: CsiPod, drivers: readonly string[]): string | undefined {
  const missing = spec.volumes?.find(({ csi }) => csi !== undefined && !drivers.includes(csi.driver))
  if (missing?.csi === undefined) return undefined
  const reason = `driver name ${missing.csi.driver} not found in the list of registered CSI drivers`
  return mountFailure(missing.name, reason)
}

/** The message of a kubelet about a volume that cannot be mounted. */
export function mountFailure(volume: string, reason: string): string {
  return `MountVolume.SetUp failed for volume "${volume}" : ${reason}`
}

/** A driver of a node, as its CSINode object lists it. */
export interface CsiNodeDriver {
  readonly name: string
  readonly nodeID: string
  readonly topologyKeys?: readonly string[] | null
}

/** The drivers of the CSINode object: listed ones stay as they are, because the API does not allow to change them. */
export function csiNodeDrivers(
  nodeName: string,
  registered: readonly string[],
  listed: readonly CsiNodeDriver[] = [],
): readonly CsiNodeDriver[] {
  return registered.map((name) => listed.find((driver) => driver.name === name) ?? { name, nodeID: nodeName })
}
