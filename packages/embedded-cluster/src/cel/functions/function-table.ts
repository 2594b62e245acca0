/** All functions that expressions can call. */
import { authorizationMethods } from './authorization.ts'
import type { CelFunction, FunctionTable } from './cel-function.ts'
import { listMethods, optionalFunctions, optionalMethods, setFunctions, size } from './collections.ts'
import { conversions } from './conversions.ts'
import { comparisonMethods, formatFunctions, semverFunctions } from './names-and-versions.ts'
import { ipFunctions, networkFunctions, networkMethods } from './network.ts'
import { quantityFunctions, quantityMethods } from './quantity.ts'
import { matchesFunction, textMethods } from './text.ts'
import { listFunctions, timeMethods } from './time-and-ranges.ts'

/** How a function is called: `f(x)`, `x.f()` or `namespace.f(x)`. */
export type CallStyle = 'global' | 'method' | 'namespaced'

const tables: Readonly<Record<CallStyle, FunctionTable>> = {
  global: {
    ...conversions,
    ...quantityFunctions,
    ...networkFunctions,
    ...semverFunctions,
    matches: matchesFunction(),
    size,
  },
  method: {
    ...textMethods,
    ...listMethods,
    ...optionalMethods,
    ...timeMethods,
    ...quantityMethods,
    ...networkMethods,
    ...comparisonMethods,
    ...authorizationMethods,
    size,
  },
  namespaced: {
    ...setFunctions,
    ...listFunctions,
    ...optionalFunctions,
    ...ipFunctions,
    ...formatFunctions,
  },
}

/** The function with this name, or `undefined`. A namespaced name includes the namespace. */
export function functionNamed(style: CallStyle, name: string): CelFunction | undefined {
  const table = tables[style]
  return Object.hasOwn(table, name) ? table[name] : undefined
}
