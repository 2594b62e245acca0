/** Explores an operator that runs in a process of its own. */
import { type ExploreOptions, Explorer, exploreWith } from '../explore.ts'
import type { Exploration } from '../operator-under-test.ts'
import { PATTERN_NAMES } from '../patterns/pattern-names.ts'
import type { Divergence, ExplorationReport, Unconfirmed } from '../report/exploration-report.ts'
import { concurrentRunner, unlessInterrupted } from './concurrent-runner.ts'
import { RunSlots } from './run-slots.ts'
import { scenarioExploration } from './scenario-exploration.ts'
import { ScenarioError } from './scenario-fields.ts'
import { readScenario } from './scenario-file.ts'
import { scenarioTimes } from './scenario-times.ts'
import { isWalk, Shrinker } from './shrink.ts'
import { spareTime } from './spare-time.ts'
import { TimeLimit } from './time-limit.ts'
import { unknownShape } from './unknown-shape.ts'
import { WebhookTrust } from './webhook-trust.ts'

/** Of the time for points, what may be spent afterwards: on runs in progress, repetitions and shorter scenarios. */
const CLOSING_SHARE = 0.2

/** What was found at the last moment can still be repeated within this many times the patience. */
const CLOSING_WAITS = 4

/** When everything ends, in milliseconds from the start: never after more than twice the time for points. */
function endsAfterMs(maxSeconds: number | undefined, patienceMs: number): number | undefined {
  if (maxSeconds === undefined) return undefined
  const budgetMs = maxSeconds * 1_000
  return budgetMs + Math.min(budgetMs, Math.max(CLOSING_SHARE * budgetMs, CLOSING_WAITS * patienceMs))
}

/** Options of {@link exploreProcess}. */
export interface ExploreProcessOptions extends Omit<ExploreOptions, 'seed' | 'point'> {
  /** The scenario file. */
  readonly path: string
  /** How the operator is started. @default what the file says */
  readonly command?: string
  /** Variables of the operator, in addition to those of the file. */
  readonly env?: Readonly<Record<string, string>>
  /** Runs at the same time: at least, and at most where the machine has time to spare. */
  readonly parallel: { readonly min: number; readonly max: number }
  /** Whether shorter scenarios are looked for. @default true */
  readonly shrinks?: boolean
  readonly onLine?: (instance: string, line: string) => void
}

/**
 * Explores the operator of a scenario file.
 *
 * *Guarantees*: every process that is started has ended on return. *Errors*: `ScenarioError` for a file that cannot be
 * used, and for a shape that no point has.
 *
 * @example
 * const { divergences } = await exploreProcess({ path: 'scenario.yaml', parallel: { min: 4, max: 8 }, maxSeconds: 600 })
 */
export async function exploreProcess(options: ExploreProcessOptions): Promise<ExplorationReport> {
  const { path, command, env, parallel, onLine, shrinks = true, maxSeconds, signal: interrupted } = options
  const file = await readScenario(path)
  const trust =
    file.webhooks.length === 0 ? undefined : await WebhookTrust.create(file.webhooks.map(({ service }) => service))
  try {
    using limit = new TimeLimit(endsAfterMs(maxSeconds, scenarioTimes(file).patienceMs))
    const signal = interrupted === undefined ? limit.signal : AbortSignal.any([interrupted, limit.signal])
    const { operator, scenario } = scenarioExploration(file, { path, command, env, trust, onLine, signal })
    // Whatever world the operator deals with, the exploration makes it and hands it over.
    const exploration = { operator, scenario } as unknown as Exploration
    const unconfirmed: Unconfirmed[] = []
    const slots = new RunSlots({ ...parallel, hasSpareTime: spareTime() })
    const explorer = new Explorer(exploration, options)
    const runner = concurrentRunner(explorer, {
      slots,
      signal,
      onUnconfirmed: (found) => unconfirmed.push(found),
    })
    const subject = { operator: operator.name, scenario: scenario.name, seed: 1 }
    const report = await exploreWith(runner, subject, { ...options, signal })
    if (options.only !== undefined && report.runs === 0 && !signal.aborted)
      throw new ScenarioError(await unknownShape(explorer, options.only, options.patterns ?? PATTERN_NAMES))
    const steps = scenario.steps.map(({ name }) => name)
    const shrinker = new Shrinker(exploration, () => signal.aborted || !shrinks, options)
    const divergences = await Promise.all(
      report.divergences.map(async (divergence): Promise<Divergence> => {
        const work = () => slots.run(() => shrinker.shrunk(divergence))
        const shrunk = (await unlessInterrupted(signal, work)) ?? {
          divergence,
          steps: isWalk(divergence) ? [] : steps,
        }
        return { ...shrunk.divergence, steps: shrunk.steps }
      }),
    )
    return { ...report, divergences, unconfirmed }
  } finally {
    await trust?.[Symbol.asyncDispose]()
  }
}
