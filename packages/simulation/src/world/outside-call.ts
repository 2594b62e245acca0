/** The seam between an instance of the operator and the world outside the cluster. */
import type { Disturbance, SeamCall } from './disturbance.ts'
import type { OutsideEffects } from './outside-effects.ts'
import { type OutsideCall, OutsideCallError } from './outside-world.ts'
import type { RunLog } from './run-log.ts'
import type { TraceKind } from './trace.ts'

/** What calls need of their world. */
interface CallContext {
  readonly world: {
    readonly log: RunLog
    readonly outsideEffects: OutsideEffects
    readonly disturbance: Disturbance
    record(instance: number, kind: TraceKind, text: string): void
  }
  readonly instance: number
  /** Aborts when the instance is killed. */
  readonly killed: AbortSignal
}

/** The response has no receiver; nothing references the promise, so it is collected with the instance. */
const never = <R>() => new Promise<R>(() => undefined)

/** Makes the way out of one instance. */
export function outsideCall({ world, instance, killed }: CallContext): OutsideCall {
  return async (operation, act) => {
    if (killed.aborted) return never()
    const call: SeamCall = { index: world.log.calls.length, instance, operation }
    world.log.calls.push(call)
    world.record(instance, 'outside', operation)
    const fate = world.disturbance.onCall?.(call) ?? 'deliver'
    // Numbered, like the request ids of real services: a status that quotes the failure changes with every attempt.
    const number = call.index + 1
    if (fate === 'fail')
      throw new OutsideCallError(`${operation} failed: injected by the exploration into call ${number}`)
    const acting = world.outsideEffects.during(() => act(killed))
    world.disturbance.onCalling?.(call)
    // A started call completes, even if nothing waits for it anymore.
    const result = await acting
    if (fate === 'lose' || killed.aborted) return never()
    if (fate === 'fail-afterwards')
      throw new OutsideCallError(
        `${operation} failed after its effect: injected by the exploration into call ${number}`,
      )
    world.disturbance.onCalled?.(call)
    return result
  }
}
