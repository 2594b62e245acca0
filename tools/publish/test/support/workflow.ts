/** The steps of a GitHub workflow, in order: what a test can run, and why it does not run the rest. */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

/** By the beginning of a script or the name of an action. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'actions/checkout@': 'the project is in its folder already',
  'actions/setup-node@': 'the test has its own Node, the oldest that is supported',
  'docker ': 'needs a container engine and a registry',
}

/** All steps of a workflow. */
export interface Workflow {
  /** Scripts for bash. */
  readonly run: readonly string[]
  readonly notRun: readonly { readonly step: string; readonly reason: string }[]
}

interface Step {
  readonly run?: string
  readonly uses?: string
}

/**
 * Reads the steps of all jobs.
 *
 * *Errors*: when there is an action without a reason not to run it, so that no step is skipped silently.
 */
export async function readWorkflow(file: string): Promise<Workflow> {
  const workflow: { readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>> } = parse(
    await readFile(file, 'utf8'),
  )
  const run: string[] = []
  const notRun: Workflow['notRun'][number][] = []
  for (const { run: script, uses: action = '' } of Object.values(workflow.jobs).flatMap(({ steps }) => steps)) {
    const step = script ?? action
    const reason = Object.entries(NOT_RUN).find(([beginning]) => step.startsWith(beginning))?.[1]
    if (reason !== undefined) notRun.push({ step, reason })
    else if (script !== undefined) run.push(script)
    else throw new Error(`${file}: the action "${action}" is neither run nor listed with a reason`)
  }
  return { run, notRun }
}
