/** Several measurements of one figure. */

/** The smallest and the largest value. */
export function spread(values: readonly number[], digits: number, unit: string): string {
  const text = (value: number) => value.toFixed(digits)
  const [low, high] = [text(Math.min(...values)), text(Math.max(...values))]
  return `${low === high ? low : `${low}–${high}`} ${unit}`.trimEnd()
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
