/** Which test files a run under load takes. */

/** The k-th of n parts, counted from 1. */
export interface Slice {
  readonly index: number
  readonly count: number
}

/** Null if it is not of the form `K/N`. */
export function parseSlice(text: string): Slice | null {
  const [, index = 0, count = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number)
  return index >= 1 && index <= count ? { index, count } : null
}

/** What was asked for, and the files that there are. */
export interface FileChoice {
  readonly named: readonly string[]
  readonly slice: Slice | undefined
  readonly all: () => readonly string[]
  readonly changed: () => readonly string[]
}

/** The named files, the slice of all files, or those that changed. */
export function chooseFiles({ named, slice, all, changed }: FileChoice): readonly string[] {
  if (named.length > 0) return named
  if (slice !== undefined) return all().filter((_, position) => position % slice.count === slice.index - 1)
  return changed().filter((file) => file.endsWith('.test.ts'))
}
