/** Carries out `dynatrace-operator plan`: reads files and the cluster, has the plan made, and prints it. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient, type KubeObject, loadConfig } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import manifest from '../../package.json' with { type: 'json' }
import { operatorSettings } from '../operator-settings.ts'
import { type RunningOperator, readClusterState } from '../plan/cluster-state.ts'
import { makePlan, type Plan, type PlanInput } from '../plan/plan.ts'
import type { PlanFinding } from '../plan/plan-finding.ts'
import { PLANNED_KINDS } from '../plan/scratch-cluster.ts'
import { hasChanges, hasErrors } from '../plan/summary.ts'
import { networkExits } from '../plan/world.ts'
import { readManifests } from './manifest-file.ts'
import { objectsIn } from './manifest-object.ts'
import type { PlanOptions } from './plan.ts'
import { printPlan } from './plan-output.ts'
import { objectsToPlan, type PlanFiles, reviewPlan } from './plan-review.ts'
import { type CommandContext, EXIT } from './subcommand.ts'

const DEFAULT_NAMESPACE = 'dynatrace'

/** Where the chart takes the operator from when it is told nothing else. */
const IMAGE = 'public.ecr.aws/dynatrace/dynatrace-operator'

/** The cluster that is simulated has no namespace whose UID could identify it. */
const OFFLINE_CLUSTER_ID = '00000000-0000-4000-8000-000000000000'

/** What is there before the files are applied, and how it is reached. */
interface Stage {
  readonly namespace: string
  /** Reads what a plan for objects in these namespaces needs. */
  observe(namespaces: readonly string[]): Promise<Observed>
  close(): Promise<void>
}

type Observed = Pick<PlanInput, 'state' | 'clusterId' | 'hasIstio' | 'exits' | 'cluster'> & {
  readonly operator: RunningOperator | undefined
}

/** Bounds a plan. */
export interface PlanRun {
  readonly signal: AbortSignal
  readonly logger: Logger
}

/**
 * Makes and prints a plan; answers with the exit code.
 *
 * *Errors*: those of files, of the kubeconfig and of a cluster that does not answer.
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

async function planFor(files: PlanFiles, stage: Stage, { env }: CommandContext, run: PlanRun): Promise<Plan> {
  const objects = files.entries.map(({ object }) => object)
  const resources = objects.filter(({ apiVersion }) => apiVersion.startsWith('dynatrace.com/'))
  if (files.findings.some(isError)) return onlyFindings(files.findings)
  if (resources.length === 0) return onlyFindings([...files.findings, nothingToPlan])
  const namespaces = [...new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []))]
  const observed = await stage.observe(namespaces)
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
  return { ...plan, findings: [...findings, ...otherVersion(version, observed.operator), ...plan.findings] }
}

async function onlineStage(options: PlanOptions, { env }: CommandContext, run: PlanRun): Promise<Stage> {
  const { kubeconfig, context } = options
  const config = await loadConfig({ env, ...(kubeconfig && { kubeconfig }), ...(context && { context }) })
  const client = createClient({ config, userAgent: `dynatrace-operator-plan/${manifest.version}` })
  return {
    namespace: options.namespace ?? config.namespace,
    observe: async (namespaces) => {
      const { objects, ...facts } = await readClusterState(client, namespaces, run)
      return { ...facts, state: objects, exits: networkExits(env), ...(options.dryRun && { cluster: client }) }
    },
    close: () => client.close(),
  }
}

function offlineStage({ against, namespace = DEFAULT_NAMESPACE }: PlanOptions): Stage {
  return {
    namespace,
    observe: async (namespaces) => {
      const known = await readState(against)
      // Nobody writes down the namespaces that are there anyway.
      const there = new Set(known.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name))
      const implied = namespaces.filter((name) => !there.has(name)).map(namespaceObject)
      const kubeSystem = known.find(({ kind, metadata }) => kind === 'Namespace' && metadata.name === 'kube-system')
      return {
        state: [...implied, ...known],
        clusterId: kubeSystem?.metadata.uid ?? OFFLINE_CLUSTER_ID,
        // Who asks for Istio has it.
        hasIstio: true,
        operator: undefined,
      }
    },
    close: async () => undefined,
  }
}

/** The objects in files, and in the YAML and JSON files of folders. */
async function readState(paths: readonly string[]): Promise<readonly KubeObject[]> {
  const files: string[] = []
  for (const path of paths) {
    if (!(await stat(path)).isDirectory()) files.push(path)
    else files.push(...(await readdir(path)).filter((name) => MANIFEST.test(name)).map((name) => join(path, name)))
  }
  const { documents, problems } = await readManifests(files, async () => '')
  const entries = objectsIn(documents)
  const [problem] = [...problems, ...entries.filter((entry) => !('object' in entry))]
  if (problem !== undefined && 'message' in problem) {
    throw new Error(`--against ${problem.file}:${problem.line}:${problem.column}: ${problem.message}`)
  }
  return entries.flatMap((entry) => ('object' in entry && isPlanned(entry.object) ? [entry.object] : []))
}

const MANIFEST = /\.(ya?ml|json)$/

const isPlanned = ({ kind }: KubeObject): boolean => PLANNED_KINDS.some((resource) => resource.kind === kind)

const namespaceObject = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
})

const isError = ({ severity }: PlanFinding): boolean => severity === 'error'

const onlyFindings = (findings: readonly PlanFinding[]): Plan => ({
  resources: [],
  changes: [],
  environment: [],
  unchanged: 0,
  findings,
})

const nothingToPlan: PlanFinding = {
  severity: 'error',
  message: 'there is no DynaKube and no EdgeConnect in the files; give one with -f',
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
      message: `there is no namespace ${name}; create it, add it to the files, or choose another with --namespace`,
    }))
}

/** A plan tells what this program would do; another version may do it otherwise. */
function otherVersion(version: string, operator: RunningOperator | undefined): readonly PlanFinding[] {
  if (operator?.version === undefined || operator.version === version) return []
  const message = `the cluster runs the operator ${operator.version}, this plan is that of ${version}`
  return [{ severity: 'note', message }]
}

function exitCodeOf(plan: Plan): number {
  if (hasErrors(plan)) return EXIT.failed
  return hasChanges(plan) ? EXIT.changes : EXIT.done
}
