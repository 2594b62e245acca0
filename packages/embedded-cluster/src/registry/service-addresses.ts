/** Allocates cluster IPs and node ports of Services, each to one Service at a time. */

import { objectsIn } from '../draft-fields.ts'
import { type JsonObject, objectAt } from '../json.ts'

const RANGE = '10.96.0.0/16'
const PREFIX = '10.96.'
const ADDRESS_COUNT = 65_536
/** The first addresses stay available for explicit allocation, such as 10.96.0.10. */
const FIRST_RANDOM_ADDRESS = 256
const NODE_PORT_MIN = 30_000
const NODE_PORT_MAX = 32_767

/** Addresses and ports. */
type Holdings = Set<string | number>

/**
 * Addresses of 10.96.0.0/16 and ports of 30000–32767 that are in use, and the uid of the Service that uses each.
 *
 * A Service may allocate again what it already has. Only {@link retain} and {@link releaseAll} release allocations, so
 * that a failed write neither loses what the stored Service has nor takes from another.
 */
export class ServiceAddresses {
  readonly #addresses = new Map<string, string>()
  readonly #ports = new Map<number, string>()
  /** The allocations of each owner, so that releasing does not scan all of them. */
  readonly #byOwner = new Map<string, Holdings>()
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  /** Allocates an available address; `undefined` when none is left. */
  allocateAddress(owner: string): string | undefined {
    const count = ADDRESS_COUNT - FIRST_RANDOM_ADDRESS
    const start = Math.floor(this.#random() * count)
    for (let offset = 0; offset < count; offset += 1) {
      const number = FIRST_RANDOM_ADDRESS + ((start + offset) % count)
      const lastByte = number & 255
      const address = `${PREFIX}${number >> 8}.${lastByte}`
      if (lastByte === 0 || lastByte === 255 || this.#addresses.has(address)) continue
      this.#hold(owner, address)
      return address
    }
    return undefined
  }

  /** Allocates a specific address; returns the error if it is not available. */
  takeAddress(address: string, owner: string): string | undefined {
    const holder = this.#addresses.get(address)
    // Addresses adopted from another cluster may be outside the range of this one.
    if (holder === owner) return undefined
    if (!address.startsWith(PREFIX)) {
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${RANGE}`
    }
    if (holder !== undefined) return 'provided IP is already allocated'
    this.#hold(owner, address)
    return undefined
  }

  /** Allocates an available node port; `undefined` when none is left. */
  allocatePort(owner: string): number | undefined {
    const count = NODE_PORT_MAX - NODE_PORT_MIN + 1
    const start = Math.floor(this.#random() * count)
    for (let offset = 0; offset < count; offset += 1) {
      const port = NODE_PORT_MIN + ((start + offset) % count)
      if (this.#ports.has(port)) continue
      this.#hold(owner, port)
      return port
    }
    return undefined
  }

  /** Allocates a specific port; returns the error if it is not available. */
  takePort(port: number, owner: string): string | undefined {
    const holder = this.#ports.get(port)
    if (holder === owner) return undefined
    if (port < NODE_PORT_MIN || port > NODE_PORT_MAX) {
      const range = `${NODE_PORT_MIN}-${NODE_PORT_MAX}`
      return `provided port is not in the valid range. The range of valid ports is ${range}`
    }
    if (holder !== undefined) return 'provided port is already allocated'
    this.#hold(owner, port)
    return undefined
  }

  /** Releases what `owner` has allocated and none of its states `services` uses. */
  retain(owner: string, services: readonly JsonObject[]): void {
    const holdings = this.#byOwner.get(owner)
    if (holdings === undefined) return
    const kept = new Set<string | number>(services.flatMap((service) => [...addressesOf(service), ...portsOf(service)]))
    for (const held of holdings) {
      if (kept.has(held)) continue
      holdings.delete(held)
      if (typeof held === 'string') this.#addresses.delete(held)
      else this.#ports.delete(held)
    }
    if (holdings.size === 0) this.#byOwner.delete(owner)
  }

  /** Releases all allocations of `owner`. */
  releaseAll(owner: string): void {
    this.retain(owner, [])
  }

  #hold(owner: string, held: string | number): void {
    if (typeof held === 'string') this.#addresses.set(held, owner)
    else this.#ports.set(held, owner)
    const holdings = this.#byOwner.get(owner) ?? new Set()
    holdings.add(held)
    this.#byOwner.set(owner, holdings)
  }

  /** Registers the allocations of a stored Service when a cluster starts or adopts it, from any range. */
  adopt(service: JsonObject): void {
    const owner = String(objectAt(service, 'metadata').uid)
    for (const address of addressesOf(service)) if (!this.#addresses.has(address)) this.#hold(owner, address)
    for (const port of portsOf(service)) if (!this.#ports.has(port)) this.#hold(owner, port)
  }
}

function addressesOf(service: JsonObject): string[] {
  const { clusterIP } = objectAt(service, 'spec')
  return typeof clusterIP === 'string' && clusterIP !== '' && clusterIP !== 'None' ? [clusterIP] : []
}

function portsOf(service: JsonObject): number[] {
  const spec = objectAt(service, 'spec')
  const ports = objectsIn(spec, 'ports').map(({ nodePort }) => nodePort)
  return [...ports, spec.healthCheckNodePort].filter((port) => typeof port === 'number')
}
