/** Writes what applications in each container of a pod add to their own telemetry. */
import { join } from 'node:path'
import { INPUT_FILES } from '../injection-contract/input-files.ts'
import { writeAtomically } from './atomic-file.ts'
import { metadataOf } from './attributes.ts'
import { readInput } from './input-files.ts'
import type { PodOptions } from './pod-options.ts'

/**
 * Writes the endpoint and the metadata. Does nothing without an input and an output directory.
 *
 * *Errors*: `BOOTSTRAP_INPUT`, and those of the file system.
 */
export function enrich({ configDirectory, inputDirectory, pod, containers }: PodOptions): void {
  if (configDirectory === '' || inputDirectory === '') return
  const endpoint = readInput(inputDirectory, INPUT_FILES.endpoint)
  for (const container of containers()) {
    const folder = join(configDirectory, container['k8s.container.name'], 'enrichment')
    if (endpoint !== undefined) writeAtomically(join(folder, 'endpoint/endpoint.properties'), endpoint)
    const metadata = [...metadataOf(pod, container)]
    const properties = metadata.map(([key, value]) => `${key}=${value}\n`).join('')
    writeAtomically(join(folder, 'dt_metadata.json'), JSON.stringify(Object.fromEntries(metadata)))
    writeAtomically(join(folder, 'dt_metadata.properties'), properties)
  }
}
