/** Defaults of the simulator. */
import { imageSoundsMissing, type KubeletSettings } from './kubelet/pod-behaviour.ts'

/** Enough to show spreading, and few enough to read. */
export const DEFAULT_NODES = 3

/** Short but observable: ContainerCreating and the running pod of a Job can be seen. */
export const DEFAULT_KUBELET_SETTINGS: KubeletSettings = {
  podStartDelayMs: 100,
  podReadyDelayMs: 100,
  podRunDurationMs: 500,
  podStopDelayMs: 100,
  honourProbeDelays: false,
  imageExists: (image) => !imageSoundsMissing(image),
}
