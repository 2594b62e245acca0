/** Renders the chart for tests that are not about CRDs: these are most of the time that helm takes. */
import type { UnknownObject } from '@reeve/kube'
import { renderChart } from '../../support/render-chart.ts'

/** The namespace of the release in these tests. */
export const NAMESPACE = 'observability'

/** The objects of the chart with these values and flags of helm, but no CRDs. */
export function renderWithoutCrds(
  values: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<readonly UnknownObject[]> {
  return renderChart(NAMESPACE, ['installCRD=false', ...values], flags)
}
