/** The layout of the data directory: the only state that the driver has, shared by its processes. */
import { join } from 'node:path'

/** Paths of one volume with an agent. */
export interface AppVolumePaths {
  /** Its modification time is the beginning of the retries. */
  readonly root: string
  /** Where the overlay is mounted. */
  readonly mapped: string
  /** What applications write. */
  readonly upper: string
  readonly work: string
  /** Names the link of the pod. */
  readonly podInfo: string
}

/** Paths below a data directory. */
export class DataPaths {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  /** Volumes with an agent, by id. */
  get appMounts(): string {
    return join(this.root, 'appmounts')
  }

  /** One volume. */
  appVolume(id: string): AppVolumePaths {
    const root = join(this.appMounts, id)
    const upper = join(root, 'var')
    return { root, mapped: join(root, 'mapped'), upper, work: join(root, 'work'), podInfo: join(upper, 'pod-info') }
  }

  /** Everything of one DynaKube. */
  dynakube(name: string): string {
    return join(this.root, '_dynakubes', name)
  }

  /** A link to the agent that new pods get; it exists as soon as there is one. */
  latestCodeModule(dynakube: string): string {
    return join(this.dynakube(dynakube), 'latest-codemodule')
  }

  /** What the agent of a host keeps across restarts. */
  hostStorage(dynakube: string): string {
    return join(this.dynakube(dynakube), 'osagent')
  }

  /** A link to the volume of a pod, for people. */
  podLink(dynakube: string, namespace: string, pod: string): string {
    return join(this.dynakube(dynakube), 'appmounts', namespace, pod)
  }
}
