/** Whether the machine did something else while it was measured. */
import { availableParallelism, loadavg } from 'node:os'
import { type Result, withoutPeer } from '../result.ts'

/** Our own processes raise the load by about the number of cores. */
const MAX_LOAD_PER_CORE = 2

/** Remembers the highest load. */
export class LoadWatch {
  #busiest = 0

  /** Call it between rounds. */
  note(): void {
    this.#busiest = Math.max(this.#busiest, loadavg()[0] ?? 0)
  }

  /** How busy the machine was, with a warning when the figures should not be trusted. */
  result(): Result {
    this.note()
    const isBusy = this.#busiest > MAX_LOAD_PER_CORE * availableParallelism()
    const note = isBusy ? 'the machine was busy: repeat this on an idle one' : 'mostly our own processes'
    if (isBusy) console.error(`load ${this.#busiest.toFixed(1)}: ${note}`)
    return withoutPeer('highest load of the machine', this.#busiest.toFixed(1), note)
  }
}
