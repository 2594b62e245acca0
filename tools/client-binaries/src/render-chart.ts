/** Renders charts with the real helm, without a cluster. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { UnknownObject } from '@reeve/kube'
import { parseAllDocuments, stringify } from 'yaml'
import { BRIEF_CLIENT } from './find-client-binary.ts'

/** How a chart is rendered. */
export interface RenderOptions {
  /** The path of helm, see `findClientBinary`. */
  readonly helm: string
  readonly release: string
  readonly namespace: string
  /** Merged over the values of the chart. @default none */
  readonly values?: object
}

/** What `helm install` would create and print. */
export interface RenderedChart {
  /** Its objects, without those in the folder `crds`. */
  readonly objects: readonly UnknownObject[]
  readonly notes: string
}

/**
 * Renders a chart.
 *
 * *Errors*: rejects with the message of helm, such as for a value that the schema of the chart refuses.
 *
 * @example
 * const { objects, notes } = await renderChart('operators/webapp/chart', { helm, release: 'webapp', namespace: 'shop' })
 */
export async function renderChart(chart: string, options: RenderOptions): Promise<RenderedChart> {
  const { helm, release, namespace, values = {} } = options
  // Of the two commands that render, only this one reports notes as well.
  const args = ['install', release, chart, '-n', namespace, '--dry-run=client', '-o', 'json', '-f', '-']
  const child = spawn(helm, args, { env: { ...process.env, ...BRIEF_CLIENT, KUBECONFIG: '/dev/null' } })
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  child.stdin.end(stringify(values))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`helm cannot render ${chart}: ${stderr.trim()}`)
  const { manifest, info }: { manifest: string; info: { notes?: string } } = JSON.parse(stdout)
  return { objects: parseObjects(manifest), notes: info.notes ?? '' }
}

/** The objects of a file with YAML documents; empty documents are skipped. */
function parseObjects(yaml: string): readonly UnknownObject[] {
  // Helm and the API server refuse documents that are no objects.
  return parseAllDocuments(yaml).flatMap((document) => (document.toJS() as UnknownObject | null) ?? [])
}
