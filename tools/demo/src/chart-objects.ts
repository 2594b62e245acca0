/** What the chart of an operator contains, rendered by helm. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { KubeClient, UnknownObject } from '@reeve/kube'
import { parseYamlDocuments } from '@reeve/kube/yaml'
import { FIELD_MANAGER } from './apply-crd.ts'

/** The chart of an operator, and how it would be installed. */
export interface OperatorChart {
  /** The name of its folder below `operators`. */
  readonly operator: string
  readonly release: string
  readonly namespace: string
  /** The ServiceAccount to act as. @default the name of the release */
  readonly account?: string
}

/**
 * Applies those objects of a chart that `isWanted` selects.
 *
 * @example
 * await applyChart(client, helm, chart, ({ kind }) => kind === 'ServiceAccount', signal)
 */
export async function applyChart(
  client: KubeClient,
  helm: string,
  chart: OperatorChart,
  isWanted: (object: UnknownObject) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const options = { fieldManager: FIELD_MANAGER, force: true, signal }
  for (const object of (await renderChart(helm, chart, signal)).filter(isWanted)) {
    await client.apply(await client.resourceFor(object, { signal }), object, options)
  }
}

async function renderChart(
  helm: string,
  { operator, release, namespace }: OperatorChart,
  signal: AbortSignal,
): Promise<readonly UnknownObject[]> {
  const folder = fileURLToPath(new URL(`../../../operators/${operator}/chart`, import.meta.url))
  const args = ['template', release, folder, '--namespace', namespace]
  const { stdout } = await promisify(execFile)(helm, args, { maxBuffer: 32 * 1024 * 1024, signal })
  return parseYamlDocuments(stdout).flatMap((document) => {
    // The charts are checked by the tests of their operators.
    const object = document.toJS() as UnknownObject | null
    return object === null ? [] : [object]
  })
}
