/** Addresses of pods, from 10.244.0.0/16. */

const FIRST = 1
const SIZE = 2 ** 16

/** Allocates and releases addresses. */
export class PodAddresses {
  readonly #byPod = new Map<string, number>()
  readonly #used = new Set<number>()
  #next = FIRST

  /** Records that the pod has the address, so that it is not allocated again. */
  keep(pod: string, address: string): void {
    const match = /^10\.244\.(\d+)\.(\d+)$/.exec(address)
    if (match !== null) this.#assign(pod, Number(match[1]) * 256 + Number(match[2]))
  }

  /** The pod's address; allocated if it has none. */
  of(pod: string): string {
    let number = this.#byPod.get(pod)
    if (number === undefined) {
      number = this.#free()
      this.#assign(pod, number)
    }
    return `10.244.${number >> 8}.${number & 255}`
  }

  release(pod: string): void {
    const number = this.#byPod.get(pod)
    if (number === undefined) return
    this.#byPod.delete(pod)
    this.#used.delete(number)
  }

  clear(): void {
    this.#byPod.clear()
    this.#used.clear()
  }

  #assign(pod: string, number: number): void {
    this.#byPod.set(pod, number)
    this.#used.add(number)
  }

  #free(): number {
    for (let tried = 0; tried < SIZE; tried++) {
      const number = this.#next
      this.#next = (this.#next + 1) % SIZE
      const last = number & 255
      if (last !== 0 && last !== 255 && !this.#used.has(number)) return number
    }
    throw new Error('no pod address is left in 10.244.0.0/16: delete pods')
  }
}
