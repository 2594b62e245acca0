/** Renders the chart with the real helm. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findClientBinary } from '@reeve/client-binaries'
import type { UnknownObject } from '@reeve/kube'
import { parseAllDocuments } from 'yaml'

/** The folder of the chart. */
export const CHART = fileURLToPath(new URL('../../chart', import.meta.url))

/** Absent without helm. */
export const helmPath = await findClientBinary('helm')

/** The objects of the chart with these values, such as `webhook.highAvailability=false`. Rejects with what helm says. */
export async function renderChart(
  namespace: string,
  values: readonly string[] = [],
  flags: readonly string[] = [],
  chart = CHART,
): Promise<readonly UnknownObject[]> {
  const sets = values.flatMap((value) => ['--set', value])
  const args = ['template', 'dynatrace-operator', chart, '-n', namespace, ...sets, ...flags]
  const { stdout } = await promisify(execFile)(helmPath ?? '', args, { maxBuffer: 32 * 1024 * 1024 })
  return parseAllDocuments(stdout).flatMap((document) => {
    const object = document.toJS() as UnknownObject | null
    return object === null ? [] : [object]
  })
}
