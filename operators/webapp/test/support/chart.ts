/** The chart, rendered with the real helm. */
import { fileURLToPath } from 'node:url'
import { findClientBinary, type RenderedChart, renderChart } from '@reeve/client-binaries'

/** The folder of the chart. */
const CHART = fileURLToPath(new URL('../../chart', import.meta.url))

/** The helm of the machine or the one that comes with the repository; suites skip without one. */
export const helmPath = await findClientBinary('helm')

/** The chart with these values, as the release `webapp-operator` in the namespace `webapp`. */
export function render(values: object = {}): Promise<RenderedChart> {
  return renderChart(CHART, { helm: helmPath ?? '', release: 'webapp-operator', namespace: 'webapp', values })
}
