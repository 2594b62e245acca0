/** The images of the simulator by repository, tag and digest. */
import { STATE_LIMITS, TENANT_DEFAULTS } from '../defaults.ts'
import { SimulatorError } from '../simulator-error.ts'
import type { TenantState } from '../state/tenant-state.ts'
import { codeModulesImage, programImage } from './dynatrace-images.ts'
import { type Blob, buildImage, type Image, type ImageDescription } from './image.ts'

const MAX_AGENT_BYTES = 16 * 1024 * 1024
const DEFAULT_AGENT_BYTES = 64 * 1024

/** Images that the tenants name. Each is built on first use. */
export class ImageRegistry {
  readonly #added = new Map<string, Map<string, ImageDescription>>()
  readonly #built = new Map<string, Image>()
  readonly #tenants: ReadonlyMap<string, TenantState>
  readonly #authority: () => string
  readonly #agentSizeBytes: number

  constructor(
    tenants: ReadonlyMap<string, TenantState>,
    authority: () => string,
    agentSizeBytes = DEFAULT_AGENT_BYTES,
  ) {
    if (!(agentSizeBytes >= 0 && agentSizeBytes <= MAX_AGENT_BYTES)) {
      throw new SimulatorError(
        'SIMULATOR_OPTIONS',
        `registry.agentSizeBytes is ${agentSizeBytes}: images are kept in memory, so write at most ${MAX_AGENT_BYTES}`,
      )
    }
    this.#tenants = tenants
    this.#authority = authority
    this.#agentSizeBytes = agentSizeBytes
  }

  /** Host and port, as in the references of images. */
  get host(): string {
    return this.#authority()
  }

  /** Adds a custom image, or replaces it. */
  addImage(repository: string, tag: string, description: ImageDescription): void {
    const tags = this.#added.get(repository) ?? new Map<string, ImageDescription>()
    this.#added.set(repository, tags)
    tags.set(tag, description)
    this.#built.delete(`${repository}:${tag}`)
  }

  repositories(): readonly string[] {
    return [...new Set([...this.#catalogue().keys(), ...this.#added.keys()])].sort()
  }

  /** The tags of a repository; undefined when there is no such repository. */
  tags(repository: string): readonly string[] | undefined {
    const tags = [...(this.#catalogue().get(repository)?.keys() ?? []), ...(this.#added.get(repository)?.keys() ?? [])]
    return tags.length === 0 ? undefined : [...new Set(tags)].sort()
  }

  /** The full reference of an image. *Errors*: {@link SimulatorError} `SIMULATOR_UNKNOWN_IMAGE`. */
  reference(repository: string, tag: string): string {
    this.#require(repository, tag)
    return `${this.host}/${repository}:${tag}`
  }

  /** What the tag leads to: the digest of the index. *Errors*: {@link SimulatorError} `SIMULATOR_UNKNOWN_IMAGE`. */
  digest(repository: string, tag: string): string {
    return this.#require(repository, tag).root.digest
  }

  /** An index or a manifest, by tag or digest. */
  manifest(repository: string, reference: string): Blob | undefined {
    if (!reference.startsWith('sha256:')) return this.#image(repository, reference)?.root
    return this.#images(repository)
      .flatMap(({ root, manifests }) => [root, ...manifests])
      .find(({ digest }) => digest === reference)
  }

  /** A configuration or a layer. */
  blob(repository: string, digest: string): Blob | undefined {
    return this.#images(repository)
      .flatMap(({ blobs }) => blobs)
      .find((each) => each.digest === digest)
  }

  #require(repository: string, tag: string): Image {
    const image = this.#image(repository, tag)
    if (image !== undefined) return image
    throw new SimulatorError(
      'SIMULATOR_UNKNOWN_IMAGE',
      `unknown image ${repository}:${tag}; repositories are ${this.repositories().join(', ')}`,
    )
  }

  #images(repository: string): readonly Image[] {
    return (this.tags(repository) ?? []).flatMap((tag) => this.#image(repository, tag) ?? [])
  }

  #image(repository: string, tag: string): Image | undefined {
    const key = `${repository}:${tag}`
    const known = this.#built.get(key)
    if (known !== undefined) return known
    const description = this.#added.get(repository)?.get(tag) ?? this.#catalogue().get(repository)?.get(tag)
    if (description === undefined) return undefined
    const image = buildImage(description)
    if (this.#built.size >= STATE_LIMITS.images) this.#built.clear()
    this.#built.set(key, image)
    return image
  }

  /** What follows from the versions of the tenants: a release includes its images. */
  #catalogue(): ReadonlyMap<string, ReadonlyMap<string, ImageDescription>> {
    const catalogue = new Map<string, Map<string, ImageDescription>>()
    const offer = (repository: string, tag: string, description: ImageDescription) => {
      const tags = catalogue.get(repository) ?? new Map<string, ImageDescription>()
      catalogue.set(repository, tags.set(tag, description))
    }
    for (const { versions } of this.#tenants.values()) {
      for (const version of versions.available()) {
        const agent = programImage('oneagent', version, 'opt/dynatrace/oneagent/dynatrace-agent64.sh')
        offer('linux/oneagent', rawTag(version), agent)
        offer('dynatrace/dynatrace-oneagent', version, agent)
        offer('dynatrace/dynatrace-codemodules', version, codeModulesImage(version, this.#agentSizeBytes))
      }
      const gateway = programImage('activegate', versions.gateway, 'opt/dynatrace/gateway/entrypoint.sh')
      offer('linux/activegate', rawTag(versions.gateway), gateway)
      offer('dynatrace/dynatrace-activegate', versions.gateway, gateway)
    }
    const { edgeConnectVersion } = TENANT_DEFAULTS
    const edgeConnect = programImage('edgeconnect', edgeConnectVersion, 'opt/dynatrace/edgeconnect/edgeconnect')
    for (const tag of [edgeConnectVersion, 'latest']) offer('dynatrace/edgeconnect', tag, edgeConnect)
    return catalogue
  }
}

/** `1.283.132.20240205-143805` → `1.283.132-raw`: how a tenant's own registry names versions. */
function rawTag(version: string): string {
  return `${version.split('.').slice(0, 3).join('.')}-raw`
}
