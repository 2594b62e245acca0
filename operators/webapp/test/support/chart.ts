/** The chart, rendered with the real helm. */
import { fileURLToPath } from 'node:url'
import { findClientBinary, type RenderedChart, renderChart } from '@reeve/client-binaries'

const CHART = fileURLToPath(new URL('../../chart', import.meta.url))

/** The helm of the machine or the one that comes with the repository; suites skip without one. */
export const helmPath = await findClientBinary('helm')

/** The chart with these values, by default as the release `webapp-operator` in the namespace `webapp`. */
export function render(
  values: object = {},
  { name: release, namespace } = { name: 'webapp-operator', namespace: 'webapp' },
): Promise<RenderedChart> {
  return renderChart(CHART, { helm: helmPath ?? '', release, namespace, values })
}
