/** The table of a run: results by SIG. */
import type { SpecResult } from './spec-report.ts'
import type { Spec } from './specs.ts'

/** One line per SIG, and the sum; specs that were not selected are not counted. */
export function summary(specs: readonly Spec[], results: ReadonlyMap<string, SpecResult>): string {
  const sigs = [...new Set(specs.map(({ sig }) => sig))].sort()
  const rows = [...sigs, 'all'].map((sig) => {
    const own = specs.filter((spec) => sig === 'all' || spec.sig === sig)
    const applicable = own.filter(({ notApplicable }) => notApplicable === undefined)
    const ran = own.flatMap(({ name }) => results.get(name) ?? [])
    const passed = ran.filter(({ outcome }) => outcome === 'passed').length
    return [sig, own.length, own.length - applicable.length, applicable.length, passed, ran.length - passed]
  })
  const header = ['SIG', 'specs', 'not applicable', 'applicable', 'passed', 'failed']
  return table([header, ...rows.map((row) => row.map(String))])
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
    )
    .map((cells) => cells.join('  '))
    .join('\n')
}
