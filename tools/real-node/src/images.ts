/** The images that a node has before its first pod starts: pause, a shell, and those of the operators. */
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLayer, isNative, PLATFORMS, type RunConfig, writeOciLayout } from '@reeve/image'
import type { ContainerRuntime } from './container-runtime.ts'
import { PAUSE_IMAGE, SHELL_IMAGE } from './defaults.ts'
import { UnsupportedMachineError } from './errors.ts'
import type { NodePrograms } from './node-programs.ts'
import { runProgram } from './run-program.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))

export interface ImagesOptions {
  readonly programs: NodePrograms
  readonly runtime: ContainerRuntime
  /** Folder that the archives are written to. */
  readonly folder: string
  /** Operators whose images are built. */
  readonly operators: readonly string[]
  readonly onStep?: (step: string) => void
  readonly signal?: AbortSignal
}

/** Images of a node. */
export interface NodeImages {
  /** Archives of images that the node has before its first pod starts. */
  readonly imported: readonly string[]
  /** OCI layouts of images that it pulls, by name. */
  readonly pulled: Readonly<Record<string, string>>
}

/** Builds the images. Those of operators that exist in the folder are not built again. */
export async function buildImages(options: ImagesOptions): Promise<NodeImages> {
  const { programs, runtime, folder, operators, onStep, signal } = options
  const platform = PLATFORMS.find(isNative)
  if (platform === undefined) throw new UnsupportedMachineError(`No images for ${process.platform} ${process.arch}.`)
  await mkdir(folder, { recursive: true })
  onStep?.('building the images of test pods')
  const config = { user: '65535:65535', env: { PATH: '/bin' }, labels: {} }
  const imported = [
    await image(folder, PAUSE_IMAGE, { ...config, entrypoint: ['/pause'] }, (root) =>
      cp(programs.pause, join(root, 'pause')),
    ),
    await image(folder, SHELL_IMAGE, { ...config, entrypoint: ['/bin/sh'] }, async (root) => {
      await mkdir(join(root, 'bin'))
      await mkdir(join(root, 'tmp'))
      await cp(runtime.busybox, join(root, 'bin/busybox'))
      const commands = await runProgram(runtime.busybox, ['--list'])
      for (const name of commands.split('\n').filter((each) => each !== '' && each !== 'busybox')) {
        await symlink('busybox', join(root, 'bin', name))
      }
    }),
  ]
  const server = await image(folder, 'reeve.test/web-server:1', { ...config, entrypoint: ['/server'] }, (root) =>
    cp(programs.webServer, join(root, 'server')),
  )
  const pulled: Record<string, string> = { 'web-server': server.replace(/\.tar$/, '') }
  for (const operator of operators) {
    const name = `${operator}-operator`
    pulled[name] = join(folder, name)
    if (existsSync(pulled[name])) continue
    onStep?.(`building the image of the ${operator} operator`)
    const main = join(repository, 'tools/image/src/main.ts')
    const args = [main, operator, '--platform', platform, '--output', folder, '--json']
    await runProgram(process.execPath, args, { cwd: repository, ...(signal && { signal }) })
  }
  return { imported, pulled }

  async function image(
    output: string,
    reference: string,
    run: RunConfig,
    fill: (root: string) => Promise<void>,
  ): Promise<string> {
    const root = await mkdtemp(join(tmpdir(), 'reeve-node-image-'))
    try {
      await fill(root)
      const layers = [{ ...(await createLayer(root, 0)), createdBy: 'tools/real-node' }]
      // `platform` was checked above.
      const images = [{ platform: platform ?? 'linux/amd64', layers }] as const
      const name = reference.replaceAll(/[/:]/g, '-')
      return (await writeOciLayout(join(output, name), reference, images, run, 0)).archive
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  }
}
