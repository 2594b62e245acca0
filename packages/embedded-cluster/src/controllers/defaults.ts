/** What the simulator does unless told otherwise. */
import { imageSoundsMissing, type KubeletSettings } from './kubelet/pod-behaviour.ts'

/** Enough to see spreading, few enough to read. */
export const DEFAULT_NODES = 3

/** Quick, but visible: a pod is seen being created, and a Job's pod is seen running. */
export const DEFAULT_KUBELET_SETTINGS: KubeletSettings = {
  podStartDelayMs: 100,
  podReadyDelayMs: 100,
  podRunDurationMs: 500,
  podStopDelayMs: 100,
  honourProbeDelays: false,
  imageExists: (image) => !imageSoundsMissing(image),
}
