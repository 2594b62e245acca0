/** Explores an operator that runs in a process of its own. */
import type { Divergence, ExplorationReport, ExploreOptions } from '../explore.ts'
import { exploreWith } from '../explore-with.ts'
import { Explorer } from '../explorer.ts'
import type { Exploration } from '../operator-under-test.ts'
import { concurrentRunner, type Unconfirmed, unlessInterrupted } from './concurrent-runner.ts'
import { processExploration } from './process-exploration.ts'
import { readScenario } from './scenario-file.ts'
import { Shrinker } from './shrink.ts'
import { WebhookTrust } from './webhook-trust.ts'

/** Of the time for everything, what may be spent on shorter scenarios afterwards. */
const SHRINKING_SHARE = 0.2

/** Options of {@link exploreProcess}. */
export interface ExploreProcessOptions extends Omit<ExploreOptions, 'seed'> {
  /** The scenario file. */
  readonly path: string
  /** How the operator is started. @default what the file says */
  readonly command?: string
  /** Variables of the operator, in addition to those of the file. */
  readonly env?: Readonly<Record<string, string>>
  /** Runs at the same time. */
  readonly parallel: number
  /** Whether shorter scenarios are looked for. @default true */
  readonly shrinks?: boolean
  readonly onLine?: (instance: string, line: string) => void
}

/** A report on a process. */
export interface ProcessReport extends ExplorationReport {
  readonly divergences: readonly ProcessDivergence[]
  /** What showed once and not again. */
  readonly unconfirmed: readonly Unconfirmed[]
}

/** A divergence that was seen three times. */
export interface ProcessDivergence extends Divergence {
  /** The steps that are needed to see it. */
  readonly steps: readonly string[]
}

/**
 * Explores the operator of a scenario file.
 *
 * *Guarantees*: every process that is started has ended on return. *Errors*: `ScenarioError` for a file that cannot be
 * used.
 *
 * @example
 * const { divergences } = await exploreProcess({ path: 'scenario.yaml', parallel: 4, maxSeconds: 600 })
 */
export async function exploreProcess(options: ExploreProcessOptions): Promise<ProcessReport> {
  const { path, command, env, parallel, onLine, shrinks = true, signal } = options
  const file = await readScenario(path)
  const trust =
    file.webhooks.length === 0 ? undefined : await WebhookTrust.create(file.webhooks.map(({ service }) => service))
  try {
    const { operator, scenario } = processExploration(file, { path, command, env, trust, onLine, signal })
    // Whatever world the operator deals with, the exploration makes it and hands it over.
    const exploration = { operator, scenario } as unknown as Exploration
    const unconfirmed: Unconfirmed[] = []
    const runner = concurrentRunner(new Explorer(exploration, options), {
      parallel,
      signal,
      onUnconfirmed: (found) => unconfirmed.push(found),
    })
    const report = await exploreWith(runner, { operator: operator.name, scenario: scenario.name, seed: 1 }, options)
    const endsMs = performance.now() + (options.maxSeconds ?? Number.POSITIVE_INFINITY) * 1_000 * SHRINKING_SHARE
    const isOver = () => signal?.aborted === true || !shrinks || performance.now() > endsMs
    const names = scenario.steps.map(({ name }) => name)
    const shrinker = new Shrinker(exploration, isOver)
    const divergences: ProcessDivergence[] = await Promise.all(
      report.divergences.map(async (divergence) => ({
        ...divergence,
        steps: (await unlessInterrupted(signal, () => shrinker.neededSteps(divergence))) ?? names,
      })),
    )
    return { ...report, divergences, unconfirmed }
  } finally {
    await trust?.[Symbol.asyncDispose]()
  }
}
