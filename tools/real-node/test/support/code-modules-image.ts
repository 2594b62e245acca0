/** An image of code modules that copies itself: the agent of the simulator, and our bootstrapper as its entrypoint. */
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import { isNative, PLATFORMS } from '@reeve/image'
import type { LayoutRegistry } from '@reeve/real-node'
import type { Json } from './kubectl.ts'
import { operatorImage, serveImage } from './operator-image.ts'

const AGENT = 'dynatrace/dynatrace-codemodules'

/** Builds the image and serves it until the registry is disposed of. */
export async function serveCodeModules(simulator: TenantSimulator, version: string): Promise<LayoutRegistry> {
  const platform = PLATFORMS.find(isNative) ?? 'linux/amd64'
  const agent = agentLayer(simulator, version, platform.slice('linux/'.length))
  const layers = [...(await operatorImage()).layers, { ...agent, createdBy: 'agent' }]
  const entrypoint = ['/usr/local/bin/node', '/app/dynatrace-bootstrapper.js']
  const config = { user: '1001:1001', entrypoint, env: {}, labels: { 'com.dynatrace.build-version': version } }
  return serveImage('code-modules', version, layers, config)
}

function agentLayer({ registry }: TenantSimulator, version: string, architecture: string) {
  const index: Json = JSON.parse(`${registry.manifest(AGENT, version)?.content}`)
  const { digest } = index.manifests.find((each: Json) => each.platform.architecture === architecture)
  const manifest: Json = JSON.parse(`${registry.manifest(AGENT, digest)?.content}`)
  const layer = registry.blob(AGENT, manifest.layers[0].digest)?.content ?? Buffer.alloc(0)
  return { blob: layer, diffId: `sha256:${createHash('sha256').update(gunzipSync(layer)).digest('hex')}` }
}
