/** Puts virtual time and randomness in the place of the process's own, for as long as a world exists. */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { virtualDate, virtualHrtime, virtualPerformanceNow } from './virtual-dates.ts'
import { type RandomFunctions, virtualCrypto, virtualRandom, virtualRandomValues } from './virtual-randomness.ts'
import { TIMER_NAMES, virtualAbortTimeout, virtualTimerPromises, virtualTimers } from './virtual-timers.ts'

/** The exports that CommonJS sees can be replaced; {@link syncBuiltinESMExports} shows them to modules. */
const require = createRequire(import.meta.url)

/**
 * Replaces globals of the process. Code outside a world sees no difference: the replacements use the source of
 * their caller, and call the originals where there is none.
 *
 * The originals belong to the process, so there is one of these, and it counts the worlds that need it.
 */
class AmbientPatch {
  #users = 0
  #undo: (() => void)[] = []

  /** Replaces everything unless that is done already. */
  acquire(): void {
    if (this.#users++ > 0) return
    this.#replaceGlobals()
    this.#replaceModules()
    syncBuiltinESMExports()
  }

  /** Restores the originals when the replacements are no longer needed. */
  release(): void {
    if (--this.#users > 0) return
    for (const undo of this.#undo.splice(0)) undo()
    syncBuiltinESMExports()
  }

  #replaceGlobals(): void {
    this.#replace(globalThis, 'Date', virtualDate(Date))
    this.#replace(Math, 'random', virtualRandom(Math.random))
    this.#replace(performance, 'now', virtualPerformanceNow(performance.now.bind(performance)))
    this.#replace(process, 'hrtime', virtualHrtime(process.hrtime))
    this.#replace(AbortSignal, 'timeout', virtualAbortTimeout(AbortSignal.timeout))
    const timers = virtualTimers(globalThis)
    for (const name of TIMER_NAMES) this.#replace(globalThis, name, timers[name])
  }

  #replaceModules(): void {
    const timers = require('node:timers') as typeof globalThis
    const replacedTimers = virtualTimers(timers)
    for (const name of TIMER_NAMES) this.#replace(timers, name, replacedTimers[name])
    const promises = require('node:timers/promises') as Parameters<typeof virtualTimerPromises>[0]
    for (const [name, replaced] of Object.entries(virtualTimerPromises({ ...promises })))
      this.#replace(promises, name, replaced)
    const crypto = require('node:crypto') as RandomFunctions
    const { randomUUID, randomBytes, randomInt } = crypto
    const replacedCrypto = virtualCrypto({ randomUUID, randomBytes, randomInt })
    for (const [name, replaced] of Object.entries(replacedCrypto)) this.#replace(crypto, name, replaced)
    this.#replace(globalThis.crypto, 'randomUUID', replacedCrypto.randomUUID)
    const getRandomValues = globalThis.crypto.getRandomValues.bind(globalThis.crypto)
    this.#replace(globalThis.crypto, 'getRandomValues', virtualRandomValues(getRandomValues))
  }

  #replace(target: object, name: string, value: unknown): void {
    const before = Object.getOwnPropertyDescriptor(target, name)
    Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true })
    this.#undo.push(() => {
      if (before === undefined) Reflect.deleteProperty(target, name)
      else Object.defineProperty(target, name, before)
    })
  }
}

/** Of the process. */
export const ambientPatch = new AmbientPatch()
