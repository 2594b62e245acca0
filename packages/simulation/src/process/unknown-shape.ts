/** Says which points there are when none has the shape that was asked for. */
import { shapeName } from '../choose-points.ts'
import type { Explorer } from '../explore.ts'
import type { PatternReference } from '../patterns/pattern-names.ts'

/** Names that are suggested. */
const MAX_SUGGESTED = 5

/** The message for it: with the shapes that have most of its words. */
export async function unknownShape(
  explorer: Pick<Explorer, 'points'>,
  only: string,
  patterns: readonly PatternReference[],
): Promise<string> {
  const names = new Set<string>()
  for (const pattern of patterns) for (const { shape } of await explorer.points(pattern)) names.add(shapeName(shape))
  const nearest = [...names]
    .toSorted((one, other) => commonWords(other, only) - commonWords(one, only))
    .slice(0, MAX_SUGGESTED)
    .map((name) => `\n  --only '${name}'`)
  const hint = nearest.length === 0 ? '; there are no points at all' : `; the nearest are${nearest.join('')}`
  return `--only: no point of ${patterns.join(', ')} has the shape "${only}"${hint}`
}

function commonWords(one: string, other: string): number {
  const words = new Set(other.split(/[ /]/))
  return one.split(/[ /]/).filter((word) => words.has(word)).length
}
