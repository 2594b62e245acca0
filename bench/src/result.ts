/** What a benchmark found, and how it is shown. */

/** One figure beside the one it is measured against. */
export interface Result {
  readonly name: string
  /** What was measured, with its unit. */
  readonly figure: string
  /** The peer or the raw limit, measured in the same run, with its unit. */
  readonly beside: string
  /** `figure` in relation to `beside`: 1 is the optimum, unless `note` says otherwise; NaN without a peer. */
  readonly ratio: number
  readonly note?: string
}

/** A figure that nothing is measured beside. */
export function withoutPeer(name: string, figure: string, note?: string): Result {
  return { name, figure, beside: '', ratio: Number.NaN, ...(note !== undefined && { note }) }
}

/** Results in aligned columns. */
export function asTable(results: readonly Result[]): string {
  const rows = results.map(({ name, figure, beside, ratio, note = '' }) => [
    name,
    figure,
    beside,
    Number.isNaN(ratio) ? '-' : ratio.toFixed(2),
    note,
  ])
  const all = [['benchmark', 'measured', 'beside', 'ratio', ''], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
