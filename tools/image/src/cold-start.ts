/** How long a command of the image takes from nothing: what every probe and init container pays. */
import type { ImageDefinition } from './image-definitions.ts'
import { isNative, PLATFORMS } from './platform.ts'
import { runInRoot, whyNotHere } from './run-in-root.ts'
import { unpackImage } from './unpacked-image.ts'

const ROUNDS = 3

/** The time to print the version, or why it was not measured. */
export type ColdStart = { readonly versionMs: number } | { readonly skipped: string }

/** Runs `--version` in the image and takes the fastest of a few rounds. */
export async function measureColdStart(archive: string, { name }: ImageDefinition): Promise<ColdStart> {
  const reason = whyNotHere()
  if (reason !== undefined) return { skipped: reason }
  const native = PLATFORMS.find(isNative)
  if (native === undefined) return { skipped: 'no image runs on this machine' }
  await using image = await unpackImage(archive, native)
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now()
    const { code, stderr } = await runInRoot(image, ['--version'])
    if (code !== 0) return { skipped: `${name} --version ended with ${code}: ${stderr.trim()}` }
    times.push(performance.now() - startedAt)
  }
  return { versionMs: Math.round(Math.min(...times)) }
}
