/** An image of code modules that copies itself: the agent of the simulator, and our bootstrapper as its entrypoint. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import { isNative, PLATFORMS, writeOciLayout } from '@reeve/image'
import { type LayoutRegistry, NODE_IP, startLayoutRegistry, trustRegistry } from '@reeve/real-node'
import type { Json } from './kubectl.ts'
import { imageLayout } from './node-images.ts'

const NAME = 'code-modules'
const AGENT = 'dynatrace/dynatrace-codemodules'

/** Builds the image and serves it until the registry is disposed of. */
export async function serveCodeModules(simulator: TenantSimulator, version: string): Promise<LayoutRegistry> {
  const platform = PLATFORMS.find(isNative) ?? 'linux/amd64'
  const agent = agentLayer(simulator, version, platform.slice('linux/'.length))
  const layers = [...(await operatorLayers()), { ...agent, createdBy: 'agent' }]
  const folder = join(process.env.TMPDIR ?? '/tmp', NAME)
  const entrypoint = ['/usr/local/bin/node', '/app/dynatrace-bootstrapper.js']
  const config = { user: '1001:1001', entrypoint, env: {}, labels: { 'com.dynatrace.build-version': version } }
  await writeOciLayout(folder, `reeve.test/${NAME}:${version}`, [{ platform, layers }], config, 0)
  const registry = await startLayoutRegistry({ [NAME]: folder }, NODE_IP)
  await trustRegistry(process.env.REEVE_NODE_REGISTRIES ?? '', `http://${registry.host}`)
  return registry
}

/** The layers of the operator's image, which has Node and the bootstrapper. */
async function operatorLayers() {
  const layout = imageLayout('dynatrace-operator')
  const blob = (digest: string) => readFile(join(layout, 'blobs', digest.replace(':', '/')))
  const json = async (digest: string): Promise<Json> => JSON.parse(`${await blob(digest)}`)
  const top: Json = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'))
  const index = await json(top.manifests[0].digest)
  const manifest = await json(index.manifests[0].digest)
  const { rootfs } = await json(manifest.config.digest)
  return Promise.all(
    manifest.layers.map(async ({ digest }: { digest: string }, position: number) => ({
      blob: await blob(digest),
      diffId: rootfs.diff_ids[position],
      createdBy: 'dynatrace-operator',
    })),
  )
}

function agentLayer({ registry }: TenantSimulator, version: string, architecture: string) {
  const index: Json = JSON.parse(`${registry.manifest(AGENT, version)?.content}`)
  const { digest } = index.manifests.find((each: Json) => each.platform.architecture === architecture)
  const manifest: Json = JSON.parse(`${registry.manifest(AGENT, digest)?.content}`)
  const layer = registry.blob(AGENT, manifest.layers[0].digest)?.content ?? Buffer.alloc(0)
  return { blob: layer, diffId: `sha256:${createHash('sha256').update(gunzipSync(layer)).digest('hex')}` }
}
