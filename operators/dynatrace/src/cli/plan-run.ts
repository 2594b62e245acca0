/** Carries out `dynatrace-operator plan`: reads files and the cluster, has the plan made, and prints it. */

import { type CommandContext, EXIT, type TextSink } from '@reeve/cli'
import { readManifests } from '@reeve/cli/manifests'
import type { KubeObject } from '@reeve/kube'
import type { PlanFinding } from '@reeve/plan'
import type { Logger } from '@reeve/runtime'
import manifest from '../../package.json' with { type: 'json' }
import { operatorSettings } from '../operator-settings.ts'
import { makePlan, type Plan } from '../plan/plan.ts'
import { asDocument, formatText, hasChanges, hasErrors } from '../plan/plan-output.ts'
import type { PlanOptions } from './plan.ts'
import { objectsToPlan, type PlanFiles, reviewPlan } from './plan-review.ts'
import { type Observed, offlineStage, onlineStage, type PlanStage } from './plan-stage.ts'

/** The default image of the chart. */
const IMAGE = 'dynatrace-operator'

/** The exit code when there are changes to make. */
const CHANGES = 2

/** Bounds a plan. */
export interface PlanRun {
  readonly signal: AbortSignal
  readonly logger: Logger
}

/**
 * Makes and prints a plan; returns the exit code.
 *
 * *Errors*: those of files, of the kubeconfig and of a cluster that does not respond.
 */
export async function runPlan(options: PlanOptions, context: CommandContext, run: PlanRun): Promise<number> {
  if (options.against.length > 0 && !options.offline) {
    context.stderr.write('dynatrace-operator: --against stands for a cluster and needs --offline\n')
    return EXIT.usage
  }
  const manifests = await readManifests(options.filename, context.readStdin)
  const stage = options.offline ? offlineStage(options) : await onlineStage(options, context, run)
  try {
    const files = objectsToPlan(manifests, stage.namespace)
    const plan = await planFor(files, stage, context, run)
    await printPlan(plan, options, context.stdout)
    return exitCodeOf(plan)
  } finally {
    await stage.close()
  }
}

/** Prints. Colours are for terminals only. */
async function printPlan(
  plan: Plan,
  { output, full }: Pick<PlanOptions, 'output' | 'full'>,
  stdout: TextSink,
): Promise<void> {
  if (output === 'json') stdout.write(`${JSON.stringify(asDocument(plan), null, 2)}\n`)
  else if (output === 'yaml') {
    const { default: yaml } = await import('yaml')
    stdout.write(yaml.stringify(asDocument(plan), { aliasDuplicateObjects: false }))
  } else stdout.write(formatText(plan, { isColoured: stdout.hasColors, isFull: full }))
}

async function planFor(files: PlanFiles, stage: PlanStage, { env }: CommandContext, run: PlanRun): Promise<Plan> {
  const objects = files.entries.map(({ object }) => object)
  const resources = objects.filter(({ apiVersion }) => apiVersion.startsWith('dynatrace.com/'))
  if (files.findings.some(isError)) return onlyFindings(files.findings)
  if (resources.length === 0) return onlyFindings([...files.findings, nothingToPlan])
  const namespaces = [...new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []))]
  const observed = await stage.observe(namespaces, objects)
  const [namespace = stage.namespace] = resources.flatMap(({ metadata }) => metadata.namespace ?? [])
  const settings = operatorSettings({ ...env, ...observed.operator?.env, POD_NAMESPACE: namespace })
  const review = await reviewPlan(files, observed.state, settings.modules)
  const findings = [...files.findings, ...review, ...missingNamespaces(namespaces, objects, observed.state)]
  if (findings.some(isError)) return onlyFindings(findings)
  const { version } = manifest
  const plan = await makePlan({
    ...observed,
    ...run,
    files: objects,
    operator: { version, image: settings.image || `${IMAGE}:v${version}`, hasCsiDriver: settings.modules.csiDriver },
    detectsHostAvailability: settings.detectsHostAvailability,
  })
  return { ...plan, findings: [...findings, ...installationNotes(version, observed), ...plan.findings] }
}

const isError = ({ severity }: PlanFinding): boolean => severity === 'error'

const onlyFindings = (findings: readonly PlanFinding[]): Plan => ({
  resources: [],
  changes: [],
  tenant: [],
  unchanged: 0,
  findings,
})

const nothingToPlan: PlanFinding = {
  severity: 'error',
  message: 'the files contain no DynaKube and no EdgeConnect; add one with -f',
}

function missingNamespaces(
  namespaces: readonly string[],
  files: readonly KubeObject[],
  state: readonly KubeObject[],
): readonly PlanFinding[] {
  const there = new Set(
    [...files, ...state].filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name),
  )
  return namespaces
    .filter((name) => !there.has(name))
    .map((name) => ({
      severity: 'error',
      message: `namespace ${name} does not exist; create it, add it to the files, or choose another with --namespace`,
    }))
}

/** A plan shows what this program would do; another version of the operator may differ. */
function installationNotes(version: string, { hasCrds, operator }: Observed): readonly PlanFinding[] {
  const notes = [
    ...(hasCrds ? [] : ['the cluster has no CRDs of the operator: install it before you apply the files']),
    ...(operator?.version === undefined || operator.version === version
      ? []
      : [`the cluster runs the operator ${operator.version}, this plan is that of ${version}`]),
  ]
  return notes.map((message) => ({ severity: 'note', message }))
}

function exitCodeOf(plan: Plan): number {
  if (hasErrors(plan)) return EXIT.failed
  return hasChanges(plan) ? CHANGES : EXIT.done
}
