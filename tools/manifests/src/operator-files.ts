/** Everything that is written for one operator. */
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { UnknownObject } from '@reeve/kube'
import { kustomizeBase, type OutputFile } from './kustomize-base.ts'
import { manifestYaml } from './manifest-yaml.ts'
import { mergeValues, type Values } from './merge-values.ts'
import { OLM_VALUES, olmBundle } from './olm/bundle.ts'
import { renderVariant } from './render-variant.ts'
import { googleMarketplaceSchema } from './stores/google-marketplace.ts'
import { type OperatorManifests, operatorManifests } from './variants.ts'

/** How files are made. */
export interface FilesOptions {
  /** The path of helm. */
  readonly helm: string
  /** @default the namespace that is usual for the operator */
  readonly namespace?: string
  /** Repository of the image, without a tag. @default the one of the chart */
  readonly imageRepository?: string
  /** @default the one of the chart */
  readonly imageTag?: string
  /** Further values of the chart. @default none */
  readonly values?: Values
  /** The name of the only variant that is wanted. @default all variants */
  readonly only?: string
}

/** The folder of the chart of an operator. */
export function chartFolder(operator: string): string {
  return fileURLToPath(new URL(`../../../operators/${operator}/chart`, import.meta.url))
}

/**
 * The manifests of an operator: each variant as one file and as a kustomize base.
 *
 * @example
 * const files = await operatorFiles('webapp', { helm, namespace: 'shop' })
 */
export async function operatorFiles(operator: string, options: FilesOptions): Promise<readonly OutputFile[]> {
  const manifests = operatorManifests(operator)
  const { helm, namespace = manifests.namespace, values = {} } = options
  const render = (own: Values) =>
    renderVariant(chartFolder(operator), {
      helm,
      release: manifests.release,
      namespace,
      values: [values, imageValues(manifests, options)].reduce(mergeValues, own),
    })
  const variants = manifests.variants.filter(({ name }) => options.only === undefined || name === options.only)
  const files = await Promise.all(
    variants.map(async (variant) => {
      const objects = await render(variant.values)
      const base = kustomizeBase(objects)
      return [
        { path: `${variant.name}.yaml`, content: manifestYaml(objects) },
        ...base.map(({ path, content }) => ({ path: `kustomize/${variant.name}/${path}`, content })),
      ]
    }),
  )
  return [...files.flat(), ...(operator === 'dynatrace' && options.only === undefined ? await storeFiles(render) : [])]
}

/** What only the Dynatrace operator has: packages for stores. */
async function storeFiles(
  render: (values: Values) => Promise<readonly UnknownObject[]>,
): Promise<readonly OutputFile[]> {
  const chart = chartFolder('dynatrace')
  const bundle = await olmBundle(dirname(chart), await render(OLM_VALUES))
  return [
    ...bundle.map(({ path, content }) => ({ path: `olm/${path}`, content })),
    { path: 'google-marketplace/schema.yaml', content: googleMarketplaceSchema(chart) },
  ]
}

function imageValues({ imageValue }: OperatorManifests, { imageRepository, imageTag }: FilesOptions): Values {
  const repository = imageRepository === undefined ? {} : { repository: imageRepository }
  return { [imageValue]: { ...repository, ...(imageTag !== undefined && { tag: imageTag }) } }
}
