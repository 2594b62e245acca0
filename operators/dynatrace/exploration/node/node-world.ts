/** A node and a tenant: the data directory, the mounts of pods, and the pods of download Jobs. */
import { existsSync, lstatSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Clock, HttpConnectionError, type OutboundRequest, type OutboundResponse } from '@reeve/http'
import type { OutsideCall, OutsidePlace, PlainObject } from '@reeve/simulation'
import { DataPaths } from '../../src/csi/data-paths.ts'
import type { Mount } from '../../src/csi/mounts/mount-table.ts'
import { TENANT, TenantWorld } from '../tenant-world.ts'
import { AGENT_VERSION, DownloadPods, ORIGIN } from './download-pods.ts'
import { filePatch } from './file-patch.ts'
import { FileSeam } from './file-seam.ts'
import { Listings, namesIn } from './listings.ts'

/** The node of the provisioner. */
export const NODE = 'node-1'

/** In memory where there is such a place: every run makes, renames and deletes thousands of files. */
const SCRATCH = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Small: what is in the files does not matter. */
const AGENT_BYTES = 4096

/** Files that an agent has by whatever method it was installed, below `agent`. */
const ESSENTIAL = ['installer.version', 'conf/ruxitagentproc.conf', 'lib64/liboneagentproc.so'] as const

/** Every run has its own. Everything on disk is a part of what two runs agree on, and so is each broken promise. */
export class NodeWorld extends TenantWorld {
  readonly paths: DataPaths
  /** Mounts of pods. */
  readonly mounts: Mount[] = []
  /** Whether the tenant cannot be reached. */
  isTenantDown = false
  readonly #seams: FileSeam[] = []
  readonly #broken = new Set<string>()
  readonly #listings: Listings

  constructor(place: OutsidePlace) {
    super(place, [TENANT], AGENT_BYTES)
    this.paths = new DataPaths(mkdtempSync(join(SCRATCH, 'explored-node-')))
    this.#listings = new Listings(this.paths.root)
    filePatch.acquire()
    new DownloadPods(place, this.paths.root, (paths) => this.#changed(paths)).follow()
  }

  override respond(request: OutboundRequest): Promise<OutboundResponse> {
    if (!this.isTenantDown) return super.respond(request)
    return Promise.reject(new HttpConnectionError(`${request.url.host}: connection refused`, 'connect'))
  }

  /** The way to the disk of one process. */
  seam(call: OutsideCall, clock: Clock): FileSeam {
    const { root } = this.paths
    const seam = new FileSeam({ root, call, clock, onChange: (paths) => this.#changed(paths) })
    this.#seams.push(seam)
    return seam
  }

  /** A pod starts, with the agent that is the latest now. */
  mount(dynakube: string): void {
    const lowerdir = readlinkSync(this.paths.latestCodeModule(dynakube))
    const mountPoint = this.paths.appVolume('csi-1').mapped
    this.mounts.push({ device: '0:99', root: '/', mountPoint, type: 'overlay', options: { lowerdir } })
  }

  /** The kernel's table of mounts, as the provisioner sees it. */
  readMounts(): readonly Mount[] {
    return [...this.mounts]
  }

  override state(): Readonly<Record<string, PlainObject>> {
    const { root, codeModules, dynakubes } = this.paths
    const filesIn = (folder: string, name: string) => ({ files: this.#listings.of(join(folder, name)) })
    const agents = namesIn(codeModules).map((name) => [`agent ${name}`, filesIn(codeModules, name)] as const)
    const directories = namesIn(dynakubes).map((name) => [`directory of ${name}`, filesIn(dynakubes, name)] as const)
    const known = [codeModules, dynakubes].map((path) => basename(path))
    const others = namesIn(root)
      .filter((name) => !known.includes(name))
      .map((name) => [`stray ${name}`, filesIn(root, name)] as const)
      // The parent of the directories of Jobs stays.
      .filter(([name, { files }]) => name !== 'stray work' || files.length > 0)
    const broken = [...this.#broken].map((text) => [`broken: ${text}`, {}] as const)
    return { ...super.state(), ...Object.fromEntries([...agents, ...directories, ...others, ...broken]) }
  }

  /** Pods keep their agent until they end. */
  inUse(): readonly string[] {
    return this.mounts.map(({ options }) => `agent ${basename(options.lowerdir ?? '')}`)
  }

  close(): void {
    for (const seam of this.#seams) seam.closeAll()
    filePatch.release()
    rmSync(this.paths.root, { recursive: true, force: true })
  }

  #changed(paths: readonly string[]): void {
    for (const path of paths) this.#listings.forget(path)
    // Nobody sees what is being unpacked.
    if (paths.some((path) => !path.startsWith(this.paths.unpacking))) this.#check()
  }

  /** What pods rely on at any moment. */
  #check(): void {
    const { codeModules, dynakubes, unusedCodeModules } = this.paths
    for (const name of namesIn(codeModules)) {
      const isAgent = !name.startsWith('.') && !name.startsWith('download')
      if (!isAgent) continue
      if (!isComplete(join(codeModules, name))) this.#broken.add(`a part of ${name} was visible`)
      const origin = namesIn(join(codeModules, name, 'agent')).flatMap((file) => ORIGIN.exec(file)?.[1] ?? [])[0]
      if (origin !== undefined && origin !== name) this.#broken.add(`${name} came from another image`)
    }
    for (const name of namesIn(dynakubes)) {
      const target = linkTarget(this.paths.latestCodeModule(name))
      if (target !== undefined && !isComplete(target)) this.#broken.add(`${name} pointed to no complete agent`)
    }
    for (const { options } of this.mounts) {
      const name = basename(options.lowerdir ?? '')
      // Moved away, its files are still there for those who have it mounted.
      const isThere = [codeModules, unusedCodeModules].some((folder) => isComplete(join(folder, name)))
      if (!isThere) this.#broken.add(`${name} was deleted while a pod used it`)
    }
  }
}

function isComplete(agent: string): boolean {
  const isEssential = ESSENTIAL.every((path) => exists(join(agent, 'agent', path)))
  return (
    isEssential && namesIn(join(agent, 'agent/bin')).some((name) => name === AGENT_VERSION || name.startsWith('1.'))
  )
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // There is none.
    return undefined
  }
}

const exists = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined
