/** Installs the CSI driver of the chart, so that simulated nodes start pods with its volumes. */
import type { KubeClient } from '@reeve/kube'
import { helmPath, renderChart } from './render-chart.ts'

/**
 * Applies the objects of the driver, and nothing else of the chart.
 *
 * @example
 * await installCsiDriver(client, namespace, ['csidriver.nodeSelector.pool=apps'])
 */
export async function installCsiDriver(
  client: KubeClient,
  namespace: string,
  values: readonly string[] = [],
): Promise<void> {
  if (helmPath === undefined) throw new Error('the chart of the CSI driver cannot be rendered: helm is not on PATH')
  for (const object of await renderChart(namespace, ['installCRD=false', ...values])) {
    if (object.metadata.labels?.['app.kubernetes.io/component'] !== 'csi-driver') continue
    await client.apply(await client.resourceFor(object), object, { fieldManager: 'test', force: true })
  }
}
