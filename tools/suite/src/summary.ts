/** What a run of the tests prints at its end besides failures: what was skipped and why, and what is slow. */
import type { Reporter, TestModule, Vitest } from 'vitest/node'

/** One skipped test: where it is, and its titles from the outermost suite to its own. */
export interface SkippedTest {
  readonly file: string
  readonly titles: readonly string[]
  /** What the test itself said when it skipped. */
  readonly note?: string | undefined
}

/** A reason in a title, such as `the chart (skipped without helm)` or `mounting (skipped: not root)`. */
const REASON = /\((?:skipped:? )([^()]+)\)/

/** How many tests were skipped for which reason, most first, and the ones that do not say why. */
export function countSkips(tests: readonly SkippedTest[]): {
  readonly lines: readonly string[]
  readonly unexplained: readonly string[]
} {
  const counts = new Map<string, number>()
  const unexplained: string[] = []
  for (const { file, titles, note } of tests) {
    const reason = note ?? titles.findLast((title) => REASON.test(title))?.match(REASON)?.[1]
    if (reason === undefined) unexplained.push(`${file} > ${titles.join(' > ')}`)
    else counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  const lines = [...counts].toSorted(([, a], [, b]) => b - a).map(([reason, count]) => `${count} skipped: ${reason}`)
  return { lines, unexplained }
}

/** The files that took longest, one a line. */
export function slowest(
  files: readonly { readonly file: string; readonly ms: number }[],
  most = 20,
): readonly string[] {
  return files
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, most)
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`)
}

/** A run of fewer files prints no list of the slowest. */
const FEW_FILES = 20

/** Prints the summary. A test that is skipped without a reason fails the run: nobody would notice it. */
export class Summary implements Reporter {
  #isFiltered = false

  onInit({ config }: Vitest): void {
    this.#isFiltered = config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length > FEW_FILES) print('Slowest files', slowest(modules.map(timeOf)))
    const { lines, unexplained } = countSkips(this.#isFiltered ? [] : modules.flatMap(skippedTests))
    print('Skipped', lines)
    print('Skipped without a reason; say it in the title: "… (skipped without helm)"', unexplained)
    // The tests of a suite whose set-up failed are skipped too: that run has failed already.
    if (unexplained.length > 0) process.exitCode = 1
  }
}

function print(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(['', ` ${title}`, ...lines.map((line) => `   ${line}`)].join('\n'))
}

function timeOf(module: TestModule): { readonly file: string; readonly ms: number } {
  const { duration, collectDuration, setupDuration } = module.diagnostic()
  return { file: module.relativeModuleId, ms: duration + collectDuration + setupDuration }
}

function skippedTests(module: TestModule): readonly SkippedTest[] {
  return [...module.children.allTests('skipped')].map((test) => {
    const titles = [test.name]
    for (let { parent } = test; parent.type === 'suite'; parent = parent.parent) titles.unshift(parent.name)
    const result = test.result()
    return { file: module.relativeModuleId, titles, note: result.state === 'skipped' ? result.note : undefined }
  })
}
