/** The layout of the data directory: the only state that the driver has, shared by its processes. */
import { join } from 'node:path'

/** Paths of one volume. That of a host agent has only the record. */
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
  /** Says where the volume is published. Outside of what the pod sees, so that it can be trusted. */
  readonly record: string
}

/** Paths below a data directory. */
export class DataPaths {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  /** Volumes, by id. */
  get appMounts(): string {
    return join(this.root, 'appmounts')
  }

  /** One volume. */
  appVolume(id: string): AppVolumePaths {
    const root = join(this.appMounts, id)
    const inRoot = (name: string) => join(root, name)
    const upper = inRoot('var')
    const note = { podInfo: join(upper, 'pod-info'), record: inRoot('volume.json') }
    return { root, mapped: inRoot('mapped'), upper, work: inRoot('work'), ...note }
  }

  /**
   * What is left of volumes that were detached while they were in use. The provisioner does not know this directory, and
   * therefore deletes it.
   */
  get detachedVolumes(): string {
    return join(this.root, 'detached')
  }

  /** Agents that are installed on this node, shared by all DynaKubes. */
  get codeModules(): string {
    return join(this.root, 'codemodules')
  }

  /** One agent. It appears only when it is complete. */
  codeModule(folder: string): string {
    return join(this.codeModules, folder)
  }

  /** Agents on their way out. */
  get unusedCodeModules(): string {
    return join(this.codeModules, '.unused')
  }

  /** Where an agent is unpacked, and where a broken one is moved to before it is deleted. */
  get unpacking(): string {
    return join(this.root, 'tmp_zip')
  }

  /** Scratch directories of download Jobs, by the name of the Job. */
  get jobs(): string {
    return join(this.root, 'work')
  }

  /** The scratch directory of one Job. */
  jobWork(job: string): string {
    return join(this.jobs, job)
  }

  /** Directories of DynaKubes, by name. */
  get dynakubes(): string {
    return join(this.root, '_dynakubes')
  }

  /** Everything of one DynaKube. */
  dynakube(name: string): string {
    return join(this.dynakubes, name)
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
