/** `Date`, `performance.now` and `process.hrtime` on the clock of the code under test. */
import { ambientSource } from './ambient-source.ts'

/** `Date` whose idea of now is virtual for code under test. */
export function virtualDate(real: DateConstructor): DateConstructor {
  const now = () => ambientSource()?.clock.now() ?? real.now()
  return new Proxy(real, {
    construct(target, args, newTarget) {
      const source = args.length === 0 ? ambientSource() : undefined
      return Reflect.construct(target, source === undefined ? args : [source.clock.now()], newTarget) as object
    },
    apply: () => new real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
}

/** `performance.now`: what passes between two calls is virtual for code under test. */
export function virtualPerformanceNow(real: () => number): () => number {
  return () => ambientSource()?.clock.now() ?? real()
}

/** `process.hrtime` with its `bigint`. */
export function virtualHrtime(real: NodeJS.HRTime): NodeJS.HRTime {
  const hrtime = (before?: [number, number]): [number, number] => {
    const source = ambientSource()
    if (source === undefined) return real(before)
    const passed = BigInt(source.clock.now()) * 1_000_000n - nanoseconds(before)
    return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)]
  }
  const bigint = () => {
    const source = ambientSource()
    return source === undefined ? real.bigint() : BigInt(source.clock.now()) * 1_000_000n
  }
  return Object.assign(hrtime, { bigint })
}

function nanoseconds([seconds, rest]: readonly [number, number] = [0, 0]): bigint {
  return BigInt(seconds) * 1_000_000_000n + BigInt(rest)
}
