/** Hands out the virtual addresses and node ports of Services, each at most once. */

const NODE_PORT_MIN = 30_000
const NODE_PORT_COUNT = 2768

/** Addresses of 10.96.0.0/16 and ports of 30000–32767 that are in use. */
export class ServiceAddresses {
  readonly #addresses = new Set<string>()
  readonly #ports = new Set<number>()
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  /** A free cluster IP, now taken; `undefined` when none is left. */
  allocateAddress(): string | undefined {
    const start = Math.floor(this.#random() * 65_280)
    for (let offset = 0; offset < 65_280; offset += 1) {
      // The first 256 addresses stay free for addresses that people choose themselves, such as 10.96.0.10.
      const number = 256 + ((start + offset) % 65_280)
      const address = `10.96.${number >> 8}.${number & 255}`
      if ((number & 255) !== 0 && (number & 255) !== 255 && this.takeAddress(address)) return address
    }
    return undefined
  }

  /** Takes a chosen address; false when it is in use. */
  takeAddress(address: string): boolean {
    if (this.#addresses.has(address)) return false
    this.#addresses.add(address)
    return true
  }

  releaseAddress(address: string): void {
    this.#addresses.delete(address)
  }

  /** A free node port, now taken; `undefined` when none is left. */
  allocatePort(): number | undefined {
    const start = Math.floor(this.#random() * NODE_PORT_COUNT)
    for (let offset = 0; offset < NODE_PORT_COUNT; offset += 1) {
      const port = NODE_PORT_MIN + ((start + offset) % NODE_PORT_COUNT)
      if (this.takePort(port)) return port
    }
    return undefined
  }

  /** Takes a chosen port; false when it is in use. */
  takePort(port: number): boolean {
    if (this.#ports.has(port)) return false
    this.#ports.add(port)
    return true
  }

  releasePort(port: number): void {
    this.#ports.delete(port)
  }

  /** Whether `port` lies in the range node ports come from. */
  static isNodePort(port: number): boolean {
    return port >= NODE_PORT_MIN && port < NODE_PORT_MIN + NODE_PORT_COUNT
  }
}
