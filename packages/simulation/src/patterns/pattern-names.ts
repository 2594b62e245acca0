/** The names of the patterns, and the numbers by which they are known as well. */

const NUMBERS = {
  undisturbed: 'T0',
  'crash-after-write': 'T1',
  'crash-around-call': 'T2',
  'stale-view': 'T3',
  'late-own-write': 'T4',
  'unseen-states': 'T5',
  relist: 'T6',
  'dead-connection': 'T7',
  'foreign-writes': 'T8',
  'failed-request': 'T9',
  'lost-leadership': 'T10',
  'manual-changes': 'T11',
  'declared-states': 'T12',
  quiescence: 'T13',
  shutdown: 'T14',
  'name-taken': 'T15',
  'two-faults': 'T16',
  'crash-at-event': 'T17',
  'deleted-midway': 'T18',
} as const

/** What a pattern is called. */
export type PatternName = keyof typeof NUMBERS

/** A name, or the number that stands for it. */
export type PatternReference = PatternName | (typeof NUMBERS)[PatternName]

/** All names, in the order of their numbers. */
export const PATTERN_NAMES = Object.keys(NUMBERS) as readonly PatternName[]

/** The number of a pattern. */
export function patternNumber(name: PatternName): string {
  return NUMBERS[name]
}

/**
 * The name of a pattern that is given by its name or number; `undefined` when there is none.
 *
 * @example
 * patternName('T1') // 'crash-after-write'
 */
export function patternName(given: string): PatternName | undefined {
  return PATTERN_NAMES.find((name) => name === given || NUMBERS[name] === given)
}
