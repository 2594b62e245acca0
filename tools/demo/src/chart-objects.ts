/** What the chart of an operator contains, rendered by helm. */
import { fileURLToPath } from 'node:url'
import { renderChart } from '@reeve/client-binaries'
import type { KubeClient, UnknownObject } from '@reeve/kube'
import { FIELD_MANAGER } from './apply-crd.ts'

/** The chart of an operator, and how it would be installed. */
export interface OperatorChart {
  /** The name of its folder below `operators`. */
  readonly operator: string
  readonly release: string
  readonly namespace: string
  /** The ServiceAccount to act as. @default the name of the release */
  readonly account?: string
  /** Values of the chart. @default its own */
  readonly values?: object
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
  const { operator, release, namespace, values = {} } = chart
  const folder = fileURLToPath(new URL(`../../../operators/${operator}/chart`, import.meta.url))
  const { objects } = await renderChart(folder, { helm, release, namespace, values })
  const options = { fieldManager: FIELD_MANAGER, force: true, signal }
  for (const object of objects.filter(isWanted)) {
    await client.apply(await client.resourceFor(object, { signal }), object, options)
  }
}
