/** Volumes together with where they appear in a container. */
import type { Volume, VolumeMount } from '@reeve/kube'

/** A volume, and where a container sees it. */
export interface Mounted {
  readonly volume: Volume
  readonly mount: Omit<VolumeMount, 'name'>
}

/** The volumes of a pod. */
export const volumesOf = (mounted: readonly Mounted[]): readonly Volume[] => mounted.map(({ volume }) => volume)

/** The mounts of a container. */
export const mountsOf = (mounted: readonly Mounted[]): readonly VolumeMount[] =>
  mounted.map(({ volume, mount }) => ({ name: volume.name, ...mount }))
