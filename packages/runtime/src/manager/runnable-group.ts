/** Runnables that start and stop together. */
import { untilAborted } from '@reeve/http'
import type { Runnable } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { RunnableFailedError } from './manager-error.ts'

/** The callbacks of a group. */
export interface RunnableGroupOptions {
  readonly logger?: Logger
  /** One of the group failed. */
  readonly onFailure: (error: RunnableFailedError) => void
}

/**
 * *Guarantees*: an exception of a member, also one thrown synchronously, is reported and never left unhandled; a
 * member that ends on its own without an error is done.
 */
export class RunnableGroup {
  readonly #members: readonly Runnable[]
  readonly #logger: Logger
  readonly #onFailure: (error: RunnableFailedError) => void
  readonly #stop = new AbortController()
  readonly #running = new Map<Runnable, Promise<void>>()
  readonly #waitingFor = new Set<string>()

  constructor(members: readonly Runnable[], options: RunnableGroupOptions) {
    this.#members = members
    this.#logger = options.logger ?? silentLogger
    this.#onFailure = options.onFailure
  }

  /** Names of members that run. */
  get running(): readonly string[] {
    return [...this.#running.keys()].map(({ name }) => name)
  }

  /** Names of members that are not ready yet, while {@link RunnableGroup.whenReady} waits. */
  get notReady(): readonly string[] {
    return [...this.#waitingFor]
  }

  /** Starts all members. `also` stops them too, as the loss of leadership does. */
  start(also?: AbortSignal): void {
    const signal = also === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, also])
    for (const member of this.#members) this.#running.set(member, this.#supervise(member, signal))
  }

  /** Resolves when every member says it is ready. Rejects with the signal's reason when that comes first. */
  async whenReady(signal: AbortSignal): Promise<void> {
    const waits = this.#members.map(async (member) => {
      this.#waitingFor.add(member.name)
      try {
        await member.whenReady?.(signal)
      } catch (error) {
        throw new RunnableFailedError(member.name, error)
      }
      this.#waitingFor.delete(member.name)
    })
    await untilAborted(Promise.all(waits), signal)
  }

  /** Stops all members and waits until they have ended, at most until `deadline`. Returns those that have not. */
  async stop(deadline: AbortSignal): Promise<readonly string[]> {
    this.#stop.abort(new DOMException('the manager is stopping', 'AbortError'))
    const all = Promise.all(this.#running.values())
    // Who is still running is read from the map: the deadline's own error says no more than that it passed.
    await untilAborted(all, deadline).catch(() => undefined)
    return this.running
  }

  async #supervise(member: Runnable, signal: AbortSignal): Promise<void> {
    this.#logger.debug({ runnable: member.name }, 'starting')
    try {
      await member.run(signal)
      this.#logger.debug({ runnable: member.name }, 'stopped')
    } catch (error) {
      // What ends with the reason of its signal has stopped as requested.
      if (!signal.aborted || error !== signal.reason) this.#onFailure(new RunnableFailedError(member.name, error))
    } finally {
      this.#running.delete(member)
    }
  }
}
