/** The image of the Dynatrace operator as a basis of other images: of code modules, and of the next release. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isNative, PLATFORMS, type RunConfig, writeOciLayout } from '@reeve/image'
import { type LayoutRegistry, NODE_IP, startLayoutRegistry, trustRegistry } from '@reeve/real-node'
import type { Json } from './kubectl.ts'
import { imageLayout } from './node-images.ts'

const NAME = 'dynatrace-operator'

/** Layers from the lowest to the highest. */
export type Layers = Parameters<typeof writeOciLayout>[2][number]['layers']

/** The layers of the image, which has Node and the bootstrapper, and its configuration. */
export async function operatorImage(): Promise<{ readonly layers: Layers; readonly config: RunConfig }> {
  const layout = imageLayout(NAME)
  const blob = (digest: string) => readFile(join(layout, 'blobs', digest.replace(':', '/')))
  const json = async (digest: string): Promise<Json> => JSON.parse(`${await blob(digest)}`)
  const top: Json = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'))
  const index = await json(top.manifests[0].digest)
  const manifest = await json(index.manifests[0].digest)
  const { rootfs, config } = await json(manifest.config.digest)
  const layers = await Promise.all(
    manifest.layers.map(async ({ digest }: { digest: string }, position: number) => ({
      blob: await blob(digest),
      diffId: rootfs.diff_ids[position],
      createdBy: NAME,
    })),
  )
  const env = Object.fromEntries(config.Env.map((entry: string) => entry.split(/=(.*)/s).slice(0, 2)))
  return { layers, config: { user: config.User, entrypoint: config.Entrypoint, env, labels: config.Labels } }
}

/** Serves an image until the registry is disposed of. */
export async function serveImage(
  name: string,
  tag: string,
  layers: Layers,
  config: RunConfig,
): Promise<LayoutRegistry> {
  const platform = PLATFORMS.find(isNative) ?? 'linux/amd64'
  const folder = join(process.env.TMPDIR ?? '/tmp', `${name}-${tag}`)
  await writeOciLayout(folder, `reeve.test/${name}:${tag}`, [{ platform, layers }], config, 0)
  const registry = await startLayoutRegistry({ [name]: folder }, NODE_IP)
  await trustRegistry(process.env.REEVE_NODE_REGISTRIES ?? '', `http://${registry.host}`)
  return registry
}

/** Serves the next release of the operator: the same programs in an image with another digest and tag. */
export async function serveNextRelease(tag: string): Promise<LayoutRegistry> {
  const { layers, config } = await operatorImage()
  return serveImage(NAME, tag, layers, { ...config, labels: { ...config.labels, release: tag } })
}
