/** Puts results into a page of the documentation, with the date and the machine. */
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import type { Result } from './result.ts'

/** Replaces what an earlier run of this benchmark wrote, between two comments; a new one is appended. */
export async function writeResults(
  page: string,
  benchmark: string,
  results: readonly Result[],
  now: Date,
): Promise<void> {
  const text = await readFile(page, 'utf8')
  await writeFile(page, withResults(text, benchmark, section(results, now)))
}

/** Pure part of {@link writeResults}. */
export function withResults(text: string, benchmark: string, content: string): string {
  const [begin, end] = [`<!-- begin ${benchmark} -->`, `<!-- end ${benchmark} -->`]
  const block = `${begin}\n${content}\n${end}`
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from === -1 || to < from) return `${text.trimEnd()}\n\n## ${benchmark}\n\n${block}\n`
  return `${text.slice(0, from)}${block}${text.slice(to + end.length)}`
}

function section(results: readonly Result[], now: Date): string {
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), Node ${process.versions.node}`
  const rows = results.map(({ name, figure, beside, ratio, note = '' }) =>
    row(name, figure, beside, Number.isNaN(ratio) ? '-' : ratio.toFixed(2), note),
  )
  const header = [row('', 'measured', 'beside', 'ratio', ''), row('---', '---', '---', '---', '---')]
  return [`Measured on ${now.toISOString().slice(0, 10)}, ${machine}:`, '', ...header, ...rows].join('\n')
}

const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
