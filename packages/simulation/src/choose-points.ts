/** Chooses which points to try first when not all of them are tried: one of each shape, then the rest spread evenly. */
import type { Shape } from './patterns/pattern.ts'

/**
 * All indices, in the order in which trying them shows most: the first point of each coarse shape, then of each fine
 * one, then the last of each, then what is left, spread evenly.
 *
 * @example
 * byCoverage(points.map(({ shape }) => shape)).slice(0, 5)
 */
export function byCoverage(shapes: readonly Shape[]): readonly number[] {
  return [...new Set(coverageRounds(shapes).flat())]
}

/** The same in rounds: an exploration of several patterns takes a round of each before the next one. */
export function coverageRounds(shapes: readonly Shape[]): readonly (readonly number[])[] {
  const coarse = new Map<string, number>()
  const fine = new Map<string, number>()
  const last = new Map<string, number>()
  for (const [index, shape] of shapes.entries()) {
    const both = idOf(shape)
    if (!coarse.has(shape.coarse)) coarse.set(shape.coarse, index)
    if (!fine.has(both)) fine.set(both, index)
    last.set(both, index)
  }
  const taken = new Set([...coarse.values(), ...fine.values(), ...last.values()])
  const rest = shapes.map((_, index) => index).filter((index) => !taken.has(index))
  return withoutRepetitions([[...coarse.values()], [...fine.values()], [...last.values()], spread(rest)])
}

/** A shape in one line. */
export function shapeName({ coarse, fine }: Shape): string {
  return fine === '' ? coarse : `${coarse} ${fine}`
}

/** How many different shapes there are. */
export function countShapes(shapes: Iterable<Shape>): number {
  return new Set([...shapes].map(idOf)).size
}

function idOf({ coarse, fine }: Shape): string {
  return `${coarse}\n${fine}`
}

function withoutRepetitions(rounds: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const seen = new Set<number>()
  return rounds.map((round) =>
    round.filter((index) => {
      if (seen.has(index)) return false
      seen.add(index)
      return true
    }),
  )
}

/** Every beginning of the result is spread over the whole: halves, quarters, eighths. */
function spread(indices: readonly number[]): readonly number[] {
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, indices.length)))
  const bits = Math.log2(size)
  const reversed = (value: number) =>
    Array.from({ length: bits }, (_, bit) => ((value >> bit) & 1) << (bits - 1 - bit)).reduce(
      (sum, bit) => sum | bit,
      0,
    )
  return Array.from({ length: size }, (_, value) => indices[reversed(value)]).filter((index) => index !== undefined)
}
