/** Completion indexes of a Job, written as `0-2,5`. */

/** The indexes in the text. */
export function parseIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>()
  for (const part of (text ?? '').split(',')) {
    const [first = '', last = first] = part.split('-')
    if (first === '') continue
    for (let index = Number(first); index <= Number(last); index++) indexes.add(index)
  }
  return indexes
}

/** The text for the indexes: runs of three and more are written as a range, as are runs of two. */
export function formatIndexes(indexes: Iterable<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b)
  const runs: [number, number][] = []
  for (const index of sorted) {
    const run = runs.at(-1)
    if (run !== undefined && run[1] === index - 1) run[1] = index
    else runs.push([index, index])
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}
