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

/** Objects that say what a driver supports. */
export const CSI_DRIVERS = 'csidrivers.storage.k8s.io'

const INLINE_MODE = 'Ephemeral'

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

/** What the kubelet of a node knows about drivers. */
export interface KnownDrivers {
  /** The drivers that are registered on the node. */
  readonly registered: readonly string[]
  /** `volumeLifecycleModes` of the CSIDriver object; `undefined` without such an object. */
  readonly lifecycleModes: (driver: string) => readonly string[] | undefined
}

/** An inline volume that cannot be mounted. */
export interface CsiMountFailure {
  readonly driver: string
  /** What is missing: the driver on the node, or a CSIDriver object that allows inline volumes. */
  readonly missing: 'driver' | 'mode'
  /** The message of the kubelet's event `FailedMount`. */
  readonly message: string
}

/**
 * Why an inline volume of the pod cannot be mounted. Its driver must be registered on the node, and have a CSIDriver object
 * that lists the mode of inline volumes. Without such an object a driver has persistent volumes only.
 */
export function csiMountFailure({ spec }: CsiPod, drivers: KnownDrivers): CsiMountFailure | undefined {
  for (const { name, csi } of spec.volumes ?? []) {
    if (csi === undefined) continue
    const { driver } = csi
    const failure = (missing: CsiMountFailure['missing'], reason: string) => ({
      driver,
      missing,
      message: mountFailure(name, `kubernetes.io/csi: mounter.${reason}`),
    })
    if (!drivers.registered.includes(driver)) {
      const reason = `driver name ${driver} not found in the list of registered CSI drivers`
      return failure('driver', `SetUpAt failed to get CSI client: ${reason}`)
    }
    const modes = drivers.lifecycleModes(driver)
    if (modes?.includes(INLINE_MODE)) continue
    const why = modes === undefined ? 'no CSIDriver object' : `only supports ${JSON.stringify(modes)}`
    const reason = `volume mode "${INLINE_MODE}" not supported by driver ${driver} (${why})`
    return failure('mode', `SetupAt failed to check volume lifecycle mode: ${reason}`)
  }
  return undefined
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
