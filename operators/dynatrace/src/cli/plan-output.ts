/** Prints a plan in the format that was requested. */

import type { TextSink } from '@reeve/cli'
import { formatText } from '../plan/format-text.ts'
import type { Plan } from '../plan/plan.ts'
import { asDocument } from '../plan/summary.ts'
import type { PlanOptions } from './plan.ts'

/** Prints. Colours are for terminals only. */
export async function printPlan(
  plan: Plan,
  { output, full }: Pick<PlanOptions, 'output' | 'full'>,
  stdout: TextSink,
): Promise<void> {
  if (output === 'json') stdout.write(`${JSON.stringify(asDocument(plan), null, 2)}\n`)
  else if (output === 'yaml') {
    const { stringify } = await import('yaml')
    stdout.write(stringify(asDocument(plan), { aliasDuplicateObjects: false }))
  } else stdout.write(formatText(plan, { isColoured: stdout.hasColors, isFull: full }))
}
