/** Few changes of DynaKubes in which every two features meet in every way. */
import { seededRandom } from '@reeve/runtime/testing'
import { FEATURE_NAMES, type Feature, isAdmitted, MODE_NAMES, type Mode, specWith } from './features.ts'

/** The features of a DynaKube. */
export interface Choice {
  readonly mode: Mode
  readonly features: ReadonlySet<Feature>
}

/** Two DynaKubes, to be changed into each other and back. */
export interface CoveringChange {
  readonly from: Choice
  readonly to: Choice
}

/** How many candidates are compared. */
const CANDIDATES = 24

/**
 * Changes such that each feature is switched in, from or to each mode, and while each other one is on and while it is off, and
 * such that each mode becomes each other one. Only specs that admission accepts; greedy and deterministic.
 */
export async function coveringChanges(): Promise<readonly CoveringChange[]> {
  const random = seededRandom(4)
  const open = new Set(EVERY_MEETING)
  const changes: CoveringChange[] = []
  // The last few pairs are rejected by admission: ten attempts without a new one are enough.
  for (let idle = 0; open.size > 0 && idle < 10; ) {
    const [best] = Array.from({ length: CANDIDATES }, () => randomChange(random))
      .map((change) => ({ change, fresh: meetingsIn(change).filter((meeting) => open.has(meeting)) }))
      .sort((one, other) => other.fresh.length - one.fresh.length)
    if (best === undefined || best.fresh.length === 0) idle += 1
    else if ((await isAdmitted(specOf(best.change.from))) && (await isAdmitted(specOf(best.change.to)))) {
      for (const meeting of best.fresh) open.delete(meeting)
      changes.push(best.change)
    }
  }
  return changes
}

/** The spec for a choice. */
export const specOf = ({ mode, features }: Choice) => specWith(mode, features)

/** In which ways features and modes meet in a change, as texts. */
export function meetingsIn({ from, to }: CoveringChange): readonly string[] {
  const isSwitched = (feature: Feature) => from.features.has(feature) !== to.features.has(feature)
  const mode = new Set([from.mode, to.mode])
  const modes = from.mode === to.mode ? [] : [`${from.mode} becomes ${to.mode}`, `${to.mode} becomes ${from.mode}`]
  const features = FEATURE_NAMES.filter(isSwitched).flatMap((feature) => [
    ...[...mode].map((name) => `${feature} in ${name}`),
    ...FEATURE_NAMES.filter((other) => !isSwitched(other)).map((other) => {
      return `${feature} ${from.features.has(other) ? 'with' : 'without'} ${other}`
    }),
  ])
  return [...modes, ...features]
}

/** Every way in which two features, or a feature and a mode, or two modes can meet. */
export const EVERY_MEETING: readonly string[] = [
  ...MODE_NAMES.flatMap((one) => MODE_NAMES.filter((other) => other !== one).map((other) => `${one} becomes ${other}`)),
  ...FEATURE_NAMES.flatMap((feature) => [
    ...MODE_NAMES.map((mode) => `${feature} in ${mode}`),
    ...FEATURE_NAMES.filter((other) => other !== feature).flatMap((other) =>
      ['with', 'without'].map((word) => `${feature} ${word} ${other}`),
    ),
  ]),
]

function randomChange(random: () => number): CoveringChange {
  const oneOf = <T>(values: readonly [T, ...T[]]): T => values[Math.floor(random() * values.length)] ?? values[0]
  const mode = oneOf(MODE_NAMES)
  const someOf = (share: number) => FEATURE_NAMES.filter(() => random() < share)
  const shared = completed(someOf(0.2 + 0.4 * random()))
  const isOtherMode = random() < 0.4
  return {
    from: { mode, features: completed([...shared, ...someOf(0.5)]) },
    to: { mode: isOtherMode ? oneOf(MODE_NAMES) : mode, features: shared },
  }
}

/** Admission rejects KSPM without cluster monitoring; most generated specs would fail by that. */
function completed(features: readonly Feature[]): ReadonlySet<Feature> {
  return new Set(features.includes('kspm') ? [...features, 'kubernetes-monitoring'] : features)
}
