/** Merges values of charts as Helm does. */

/** Values of a chart. */
export type Values = Readonly<Record<string, unknown>>

/** `over` on top of `values`: objects are merged, everything else is replaced. */
export function mergeValues(values: Values, over: Values): Values {
  const merged = Object.entries(over).map(([name, value]) => {
    const below = values[name]
    return [name, isValues(below) && isValues(value) ? mergeValues(below, value) : value]
  })
  return { ...values, ...Object.fromEntries(merged) }
}

/** Whether it is an object with values in it. */
export function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
