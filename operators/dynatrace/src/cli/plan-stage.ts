/** Where the state comes from that a plan starts with: a cluster, or files that stand for one. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandContext } from '@reeve/cli'
import { objectsIn, readManifests } from '@reeve/cli/manifests'
import { createClient, type KubeObject, loadConfig } from '@reeve/kube'
import manifest from '../../package.json' with { type: 'json' }
import { type RunningOperator, readClusterState } from '../plan/cluster-state.ts'
import { PLANNED_KINDS } from '../plan/manifest-objects.ts'
import type { PlanInput } from '../plan/plan.ts'
import { networkExits } from '../plan/world.ts'
import type { PlanOptions } from './plan.ts'

const DEFAULT_NAMESPACE = 'dynatrace'

/** The cluster that is simulated has no namespace whose UID could identify it. */
const OFFLINE_CLUSTER_ID = '00000000-0000-4000-8000-000000000000'

/** The state before the files are applied, and how it is accessed. */
export interface PlanStage {
  /** Of objects that name none. */
  readonly namespace: string
  /** Reads what a plan for the objects of files, in these namespaces, needs. */
  observe(namespaces: readonly string[], files: readonly KubeObject[]): Promise<Observed>
  close(): Promise<void>
}

/** What was read. */
export type Observed = Pick<PlanInput, 'state' | 'clusterId' | 'unserved' | 'exits' | 'cluster'> & {
  readonly operator: RunningOperator | undefined
  readonly hasCrds: boolean
}

/**
 * The cluster of a kubeconfig.
 *
 * *Errors*: those of the kubeconfig.
 */
export async function onlineStage(
  options: PlanOptions,
  { env }: CommandContext,
  { signal }: { readonly signal: AbortSignal },
): Promise<PlanStage> {
  const { kubeconfig, context } = options
  const config = await loadConfig({ env, ...(kubeconfig && { kubeconfig }), ...(context && { context }) })
  const client = createClient({ config, userAgent: `dynatrace-operator-plan/${manifest.version}` })
  return {
    namespace: options.namespace ?? config.namespace,
    observe: async (namespaces) => {
      const { objects, ...facts } = await readClusterState(client, namespaces, { signal })
      return { ...facts, state: objects, exits: networkExits(env), ...(options.dryRun && { cluster: client }) }
    },
    close: () => client.close(),
  }
}

/** No cluster, or one from files. */
export function offlineStage({ against, namespace = DEFAULT_NAMESPACE }: PlanOptions): PlanStage {
  return {
    namespace,
    observe: async (namespaces, files) => {
      const known = await readState(against)
      const written = [...known, ...files].filter(({ kind }) => kind === 'Namespace')
      // Namespaces that always exist need not be in the files.
      const there = new Set(written.map(({ metadata }) => metadata.name))
      const implied = namespaces.filter((name) => !there.has(name)).map(namespaceObject)
      const kubeSystem = known.find(({ kind, metadata }) => kind === 'Namespace' && metadata.name === 'kube-system')
      return {
        state: [...implied, ...known],
        clusterId: kubeSystem?.metadata.uid ?? OFFLINE_CLUSTER_ID,
        // Whoever asks for Istio has it.
        unserved: [],
        hasCrds: true,
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
