/** The objects of one variant: what Helm would create, without what only Helm needs. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RenderOptions, renderChart } from '@reeve/client-binaries'
import type { UnknownObject } from '@reeve/kube'
import { parse } from 'yaml'

const HELM_LABELS = ['helm.sh/chart', 'app.kubernetes.io/managed-by']

/**
 * Renders a chart with its CRDs, which come first.
 *
 * *Guarantees*: there are no hooks (they belong to upgrades by Helm) and no labels of Helm.
 */
export async function renderVariant(chart: string, options: RenderOptions): Promise<readonly UnknownObject[]> {
  const { objects } = await renderChart(chart, options)
  const all = [...(await crdsOf(chart)), ...objects.map(withoutHelm)]
  return [...all.filter(isCrd), ...all.filter((object) => !isCrd(object))]
}

/** CRDs in the folder `crds`, which Helm installs without rendering them. */
async function crdsOf(chart: string): Promise<readonly UnknownObject[]> {
  const folder = join(chart, 'crds')
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  // `npm run generate` writes one CRD into each of them.
  return Promise.all(
    files.toSorted().map(async (file) => parse(await readFile(join(folder, file), 'utf8')) as UnknownObject),
  )
}

const isCrd = ({ kind }: UnknownObject) => kind === 'CustomResourceDefinition'

interface WithTemplate {
  readonly template?: { readonly metadata?: UnknownObject['metadata'] }
}

function withoutHelm(object: UnknownObject): UnknownObject {
  const { metadata } = object
  // The chart does not render anything else there.
  const spec = object.spec as WithTemplate | undefined
  if (spec?.template?.metadata === undefined) return { ...object, metadata: withoutLabels(metadata) }
  const template = { ...spec.template, metadata: withoutLabels(spec.template.metadata) }
  return { ...object, metadata: withoutLabels(metadata), spec: { ...spec, template } }
}

function withoutLabels<Metadata extends UnknownObject['metadata']>(metadata: Metadata): Metadata {
  if (metadata.labels === undefined) return metadata
  const labels = Object.entries(metadata.labels).filter(([name]) => !HELM_LABELS.includes(name))
  return { ...metadata, labels: Object.fromEntries(labels) }
}
