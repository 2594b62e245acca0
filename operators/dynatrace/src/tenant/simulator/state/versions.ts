/** Which OneAgents and ActiveGates a tenant offers. */
import { TENANT_DEFAULTS } from '../defaults.ts'

/** An image that a tenant recommends. */
export interface ImageReference {
  /** Registry and repository. */
  readonly source: string
  readonly tag: string
}

/** The images that a tenant recommends, by the last words of their paths. */
export type ImageName = 'oneAgent' | 'codeModules' | 'gateway'

/** Change the fields to release or withdraw versions. */
export class Versions {
  /** The newest OneAgent; any text is returned unchanged, so that invalid versions can be tested. */
  agent: string
  /** The newest ActiveGate. */
  gateway: string
  readonly #older: Set<string>
  readonly #images = new Map<ImageName, ImageReference>()

  constructor(agent: string = TENANT_DEFAULTS.agentVersion, gateway: string = TENANT_DEFAULTS.gatewayVersion) {
    this.agent = agent
    this.gateway = gateway
    this.#older = new Set(TENANT_DEFAULTS.olderAgentVersions)
  }

  /** Every OneAgent that can be downloaded, the oldest first. */
  available(): readonly string[] {
    return [...new Set([...this.#older, this.agent])].sort(byNumbers)
  }

  /** Releases a OneAgent: it becomes the newest, the one before stays available. */
  release(version: string): void {
    this.#older.add(this.agent)
    this.agent = version
  }

  /** Takes a OneAgent out of the list of what can be downloaded. */
  withdraw(version: string): void {
    this.#older.delete(version)
  }

  /** Recommends another image than the one of the simulator's own registry. */
  setImage(name: ImageName, image: ImageReference): void {
    this.#images.set(name, image)
  }

  /** The image that was set, if any. */
  image(name: ImageName): ImageReference | undefined {
    return this.#images.get(name)
  }
}

function byNumbers(left: string, right: string): number {
  return left.localeCompare(right, 'en', { numeric: true })
}
