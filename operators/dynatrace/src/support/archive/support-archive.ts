/** Collects everything that support asks for into one archive. */
import type { ArchiveContext, Collector } from './context.ts'
import { manifests } from './manifests.ts'
import { extensionFiles, podLogs } from './pod-logs.ts'
import { loadSimulation, operatorVersion, troubleshootReport } from './small-collectors.ts'

/** In the order of the archive. */
const COLLECTORS: readonly Collector[] = [
  operatorVersion,
  podLogs,
  extensionFiles,
  manifests,
  troubleshootReport,
  loadSimulation,
]

/**
 * Writes the archive, streamed.
 *
 * *Guarantees*: what cannot be collected is noted in `supportarchive_console.log` of the archive, and does not keep the
 * rest from being collected. No Secret is read into it, and the values of Secrets are replaced wherever they occur.
 *
 * *Errors*: those of the output, and the reason of the signal.
 */
export async function writeSupportArchive(context: ArchiveContext): Promise<void> {
  const { console, signal, zip } = context
  for (const { name, collect } of COLLECTORS) {
    signal.throwIfAborted()
    try {
      await collect(context)
    } catch (error) {
      signal.throwIfAborted()
      console.failed(name, error)
    }
  }
  console.note(console.failures === 0 ? 'complete' : `complete but for ${console.failures} parts`)
  await zip.add('supportarchive_console.log', console.lines)
  await zip.close()
}
