/** Builds the image of one operator: base, Node and bundle as layers, for each platform. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BASE_PACKAGES, buildBaseRoot } from './base-root.ts'
import type { PinnedPackages } from './debian-packages.ts'
import { installHelm } from './helm-binary.ts'
import { ALLOCATOR, type ImageDefinition } from './image-definitions.ts'
import { ImageError } from './image-error.ts'
import { createLayer } from './layer.ts'
import { installNativePackage } from './native-package.ts'
import { installNode, nodeVersion } from './node-binary.ts'
import { type PlatformImage, type WrittenImage, writeOciLayout } from './oci-layout.ts'
import type { Platform } from './platform.ts'
import { runProcess } from './run-process.ts'
import { billOfMaterials, type PackageLock } from './sbom.ts'

const NODE = '/usr/local/bin/node'

/** How an image is built. */
export interface BuildOptions {
  readonly definition: ImageDefinition
  readonly platforms: readonly Platform[]
  /** Root of the repository. */
  readonly repository: string
  /** Folder that the image is written to. */
  readonly output: string
  /** Name and tag that importers of the archive see. */
  readonly reference: string
  readonly version: string
  /** Seconds since 1970 that files and the image bear. */
  readonly createdAt: number
  readonly packages: PinnedPackages
  /** Called with each step as it begins. */
  readonly onStep: (step: string) => void
  readonly signal?: AbortSignal
}

/** A built image and how large it is. */
export interface BuiltImage extends WrittenImage {
  /** Compressed size per platform: what a node pulls. */
  readonly pulledBytes: Readonly<Record<string, number>>
  /** The bill of materials beside the image. */
  readonly sbom: string
}

/**
 * Builds an image.
 *
 * *Guarantees*: the same repository and options give the same digest; an image is written whole or not at all.
 */
export async function buildImage(options: BuildOptions): Promise<BuiltImage> {
  const { definition, platforms, repository, output, onStep, createdAt } = options
  const work = await mkdtemp(join(tmpdir(), 'reeve-image-'))
  const cache = join(repository, '.reeve/image')
  try {
    await mkdir(cache, { recursive: true })
    await mkdir(output, { recursive: true })
    onStep('bundling the operator')
    const app = join(work, 'app')
    await bundle(options, app)
    const images: PlatformImage[] = []
    let helmVersion: string | undefined
    for (const platform of platforms) {
      const shared = { repository, cache, ...(options.signal && { signal: options.signal }) }
      onStep(`${platform}: libraries and certificate authorities`)
      const base = join(work, platform, 'base')
      await mkdir(base, { recursive: true })
      await buildBaseRoot(platform, definition, options.packages, base, { folder: cache, ...shared })
      onStep(`${platform}: Node`)
      const node = join(work, platform, 'node')
      await installNode(platform, node, shared)
      if (definition.hasHelm) {
        onStep(`${platform}: helm`)
        helmVersion = await installHelm(platform, node, shared)
      }
      for (const name of definition.nativePackages(platform)) {
        onStep(`${platform}: ${name}`)
        await installNativePackage(name, join(node, 'app/node_modules'), shared)
      }
      await writeSbom(app, await materialsOf(options, helmVersion))
      onStep(`${platform}: layers`)
      images.push({
        platform,
        layers: [
          { ...(await createLayer(base, createdAt)), createdBy: 'libraries and certificate authorities' },
          { ...(await createLayer(node, createdAt)), createdBy: 'node' },
          { ...(await createLayer(app, createdAt)), createdBy: definition.name },
        ],
      })
    }
    onStep('writing the image')
    const written = await writeOciLayout(
      join(output, definition.name),
      options.reference,
      images,
      runConfig(options),
      createdAt,
    )
    const sbom = join(output, `${definition.name}.cdx.json`)
    await writeFile(sbom, await materialsOf(options, helmVersion))
    return { ...written, sbom, pulledBytes: pulledBytes(images) }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** The bundle below `/app`, and its command on the PATH. */
async function bundle({ definition, repository, signal }: BuildOptions, root: string): Promise<void> {
  const folder = join(root, 'app')
  await mkdir(folder, { recursive: true })
  await runProcess('npm', ['run', '--silent', 'bundle', '--workspace', definition.workspace], {
    cwd: repository,
    env: { OUTDIR: folder },
    ...(signal && { signal }),
  })
  const firstLine = ['#!', NODE, ...(definition.nodeOption === undefined ? [] : [' ', definition.nodeOption])].join('')
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.js')) continue
    const path = join(folder, file)
    const text = await readFile(path, 'utf8')
    // The image has no env(1).
    if (text.startsWith('#!')) await writeFile(path, text.replace(/^#!.*/, firstLine))
    await chmod(path, 0o755)
  }
  if (!(await readdir(folder)).includes(`${definition.name}.js`)) {
    throw new ImageError(`the bundle of ${definition.workspace} has no ${definition.name}.js`)
  }
  await mkdir(join(root, 'usr/local/bin'), { recursive: true })
  await symlink(`/app/${definition.name}.js`, join(root, 'usr/local/bin', definition.name))
}

async function materialsOf(options: BuildOptions, helmVersion: string | undefined): Promise<string> {
  const { definition, repository, version, packages } = options
  const names = new Set<string>([...BASE_PACKAGES, ...definition.debianPackages])
  return billOfMaterials({
    name: definition.name,
    version,
    workspace: definition.workspace,
    // Our own lock file: its shape is known.
    lock: JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')) as PackageLock,
    nodeVersion: await nodeVersion(repository),
    debian: Object.fromEntries(Object.entries(packages).filter(([name]) => names.has(name))),
    ...(helmVersion !== undefined && { helmVersion }),
  })
}

async function writeSbom(root: string, text: string): Promise<void> {
  const folder = join(root, 'usr/share/sbom')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'image.cdx.json'), text)
}

function runConfig({ definition, version }: BuildOptions) {
  return {
    user: definition.user,
    entrypoint: [`/usr/local/bin/${definition.name}`],
    env: { PATH: '/usr/local/bin', SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt', ...ALLOCATOR },
    labels: {
      'org.opencontainers.image.title': definition.name,
      'org.opencontainers.image.description': definition.description,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  }
}

function pulledBytes(images: readonly PlatformImage[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    images.map(({ platform, layers }) => [platform, layers.reduce((sum, { blob }) => sum + blob.length, 0)]),
  )
}
