/** The helm that the Collector operator runs, for a platform. */
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findClientBinary } from '@reeve/client-binaries'
import { ImageError } from './image-error.ts'
import { exists } from './locked-package.ts'
import { architecture, isNative, type Platform } from './platform.ts'
import { runProcess } from './run-process.ts'

/** Copies helm into `root` and returns its version. */
export async function installHelm(
  platform: Platform,
  root: string,
  { cache, signal }: { cache: string; signal?: AbortSignal },
): Promise<string> {
  const native = await findClientBinary('helm')
  if (native === undefined) throw new ImageError('helm was not found: run npm ci, or add it to your PATH')
  const printed = await runProcess(native, ['version', '--template', '{{.Version}}'], {
    ...(signal && { signal }),
  })
  const version = printed.trim()
  const target = join(root, 'usr/local/bin/helm')
  await mkdir(join(root, 'usr/local/bin'), { recursive: true })
  await copyFile(isNative(platform) ? native : await crossCompiled(platform, version, cache, signal), target)
  return version
}

/** The same version of helm for another platform, built from its module: npm offers it for one platform only. */
async function crossCompiled(
  platform: Platform,
  version: string,
  cache: string,
  signal?: AbortSignal,
): Promise<string> {
  const folder = join(cache, `helm-${version}-${architecture(platform)}`)
  const file = join(folder, 'helm')
  if (await exists(file)) return file
  await mkdir(folder, { recursive: true })
  const module = `helm.sh/helm/${/^v\d+/.exec(version)?.[0] ?? 'v4'}`
  await writeFile(join(folder, 'go.mod'), `module image\n\ngo 1.24\n`)
  const options = {
    cwd: folder,
    // On two busy cores.
    timeoutMs: 45 * 60_000,
    env: { GOOS: 'linux', GOARCH: architecture(platform), CGO_ENABLED: '0', GOFLAGS: '-mod=mod' },
    ...(signal && { signal }),
  }
  await runProcess('go', ['get', `${module}/cmd/helm@${version}`], options)
  const flags = ['-trimpath', '-ldflags', `-s -w -X ${module}/internal/version.version=${version}`]
  const partial = `${file}.partial`
  await runProcess('go', ['build', ...flags, '-o', partial, `${module}/cmd/helm`], options)
  await rename(partial, file)
  return file
}
