/** Reads files and the cluster for `plan`, and makes the plan. */
import { createClient, type KubeObject, loadConfig, Namespaces } from '@reeve/kube'
import { isOf, type Plan, type PlanFinding, type PlannedOperator, planOperator, readState } from '@reeve/plan'
import { objectsIn, readManifests, titleOf } from './manifests/index.ts'
import type { PlanOptions } from './plan-command.ts'
import type { CommandContext } from './subcommand.ts'

/** Of objects in files that name no namespace, without a cluster. */
const DEFAULT_NAMESPACE = 'default'

/**
 * Makes the plan.
 *
 * *Errors*: those of the kubeconfig, of files that cannot be read, and of a cluster that cannot be reached.
 */
export async function runPlan(
  operator: PlannedOperator,
  options: PlanOptions,
  { env, readStdin, logger: openLogger }: Pick<CommandContext, 'env' | 'readStdin' | 'logger'>,
  signal: AbortSignal,
): Promise<Plan> {
  const { filename, kubeconfig, context, offline } = options
  const [name] = options.args
  const logger = await openLogger()
  if (offline) {
    const { files, findings } = await filesOf(operator, options, DEFAULT_NAMESPACE, readStdin)
    const state = namespacesOf(files).map(namespaceObject)
    return withFindings(await planOperator(operator, { files, state, logger, signal }), findings)
  }
  const config = await loadConfig({ env, ...(kubeconfig && { kubeconfig }), ...(context && { context }) })
  const client = createClient({ config, userAgent: `${operator.name}-plan` })
  try {
    const { files, findings } = await filesOf(operator, options, config.namespace, readStdin)
    const selected = {
      ...(options.namespace !== undefined && filename.length === 0 && { namespace: options.namespace }),
      ...(name !== undefined && { name }),
    }
    const read = await readState(client, operator.describe(), { namespaces: namespacesOf(files), ...selected, signal })
    const cluster = options.dryRun ? { cluster: client } : {}
    const { objects: state, unserved } = read
    const input = { files, state, unserved, ...selected, ...cluster, logger, signal }
    return withFindings(await planOperator(operator, input), [...findings, ...read.findings])
  } finally {
    await client.close()
  }
}

const withFindings = (plan: Plan, findings: readonly PlanFinding[]): Plan => ({
  ...plan,
  findings: [...findings, ...plan.findings],
})

/** The objects of the files that matter to the operator; the others are reported. */
async function filesOf(
  operator: PlannedOperator,
  { filename, namespace: given }: PlanOptions,
  defaultNamespace: string,
  readStdin: CommandContext['readStdin'],
): Promise<{ readonly files: readonly KubeObject[]; readonly findings: readonly PlanFinding[] }> {
  if (filename.length === 0) return { files: [], findings: [] }
  const { documents, problems } = await readManifests(filename, readStdin)
  const kinds = operator
    .describe()
    .flatMap(({ resource, owns, watches, reads, engine }) => [
      resource,
      ...[...owns, ...watches, ...reads].map((source) => source.resource),
      ...(engine?.onDemand ?? []),
    ])
    .concat(Namespaces)
  const findings: PlanFinding[] = problems.map((problem) => ({ ...problem, severity: 'error', rule: 'yaml' }))
  const files: KubeObject[] = []
  for (const entry of objectsIn(documents)) {
    if (!('object' in entry)) {
      findings.push({ ...entry, severity: 'error', rule: 'yaml' })
      continue
    }
    const { object, file, locate } = entry
    const kind = kinds.find((one) => isOf(one, object))
    if (kind === undefined) {
      const message = 'ignored: the operator does not use this kind'
      findings.push({ severity: 'note', message, object: titleOf(object), file, ...locate('kind') })
    } else files.push(kind.namespaced ? inNamespace(object, given ?? defaultNamespace) : object)
  }
  return { files, findings }
}

function inNamespace(object: KubeObject, namespace: string): KubeObject {
  const { metadata } = object
  return metadata.namespace === undefined ? { ...object, metadata: { ...metadata, namespace } } : object
}

const namespacesOf = (files: readonly KubeObject[]): readonly string[] => [
  ...new Set(files.flatMap(({ metadata }) => metadata.namespace ?? [])),
]

const namespaceObject = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
})
