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

/** By the arguments of helm. The chart does not change while tests run, and many of them want the same objects. */
const rendered = new Map<string, Promise<readonly UnknownObject[]>>()

/**
 * The objects of the chart with these values, such as `webhook.highAvailability=false`. Rejects with what helm says.
 *
 * *Assumptions*: nobody changes the objects, which several tests may share.
 */
export function renderChart(
  namespace: string,
  values: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<readonly UnknownObject[]> {
  const sets = values.flatMap((value) => ['--set', value])
  const args = ['-n', namespace, ...sets, ...flags]
  const key = JSON.stringify(args)
  const objects = rendered.get(key) ?? template(CHART, args).then(parseObjects)
  rendered.set(key, objects)
  return objects
}

/** What `helm template` prints for a chart. */
export async function template(chart: string, args: readonly string[]): Promise<string> {
  // A process that ends after a moment needs no garbage collection, which is a fifth of its work.
  const options = { env: { ...process.env, GOGC: 'off' }, maxBuffer: 32 * 1024 * 1024 }
  const words = ['template', 'dynatrace-operator', chart, ...args]
  return (await promisify(execFile)(helmPath ?? '', words, options)).stdout
}

/** The objects in the output of helm. */
export function parseObjects(yaml: string): readonly UnknownObject[] {
  return parseAllDocuments(yaml).flatMap((document) => {
    const object = document.toJS() as UnknownObject | null
    return object === null ? [] : [object]
  })
}
