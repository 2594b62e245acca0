/** The root filesystem below an operator: the C library, certificate authorities, and the names of users. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type AptOptions, type PinnedPackages, unpackPackages } from './debian-packages.ts'
import type { ImageDefinition } from './image-definitions.ts'
import type { Platform } from './platform.ts'

/** Packages of every image: what the Node binary is linked against, and certificate authorities. */
export const BASE_PACKAGES = ['ca-certificates', 'libc6', 'libgcc-s1', 'libstdc++6'] as const

/**
 * What is kept of the packages. Character set conversions, locales and the rest of the C library's data are never used
 * by Node; licences must accompany what is distributed.
 */
const KEPT =
  /^(?:usr\/)?lib(?:64)?\/(?:[^/]+-linux-gnu\/)?(?:ld-linux-[^/]+|lib(?:c|dl|m|pthread|rt|resolv|nss_dns|nss_files|gcc_s|stdc\+\+)\.so\.[0-9.]+)$|^usr\/share\/doc\/[^/]+\/copyright$/

const AUTHORITIES = 'usr/share/ca-certificates'

/** Builds the root filesystem in `root`. */
export async function buildBaseRoot(
  platform: Platform,
  definition: ImageDefinition,
  pinned: PinnedPackages,
  root: string,
  options: AptOptions,
): Promise<void> {
  const unpacked = await mkdtemp(join(tmpdir(), 'reeve-image-packages-'))
  try {
    await unpackPackages(platform, [...BASE_PACKAGES, ...definition.debianPackages], pinned, unpacked, options)
    for (const path of await filesOf(unpacked)) {
      if (!KEPT.test(path)) continue
      await mkdir(dirname(join(root, path)), { recursive: true })
      await cp(join(unpacked, path), join(root, path), { verbatimSymlinks: true })
    }
    await writeAuthorities(unpacked, root)
  } finally {
    await rm(unpacked, { recursive: true, force: true })
  }
  await writeUsers(definition, root)
  await mkdir(join(root, 'tmp'), { recursive: true })
}

/** One file of all authorities in the order of their names, where OpenSSL, Node and Go expect it. */
async function writeAuthorities(unpacked: string, root: string): Promise<void> {
  const files = (await filesOf(join(unpacked, AUTHORITIES))).filter((path) => path.endsWith('.crt')).toSorted()
  const texts = await Promise.all(files.map((path) => readFile(join(unpacked, AUTHORITIES, path), 'utf8')))
  const folder = join(root, 'etc/ssl/certs')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'ca-certificates.crt'), texts.map((text) => `${text.trimEnd()}\n`).join(''))
}

async function writeUsers({ name, user }: ImageDefinition, root: string): Promise<void> {
  const [uid = '', gid = ''] = user.split(':')
  const etc = join(root, 'etc')
  await mkdir(etc, { recursive: true })
  await writeFile(
    join(etc, 'passwd'),
    `root:x:0:0:root:/:/sbin/nologin\n${name}:x:${uid}:${gid}:${name}:/:/sbin/nologin\n`,
  )
  await writeFile(join(etc, 'group'), `root:x:0:\n${name}:x:${gid}:\n`)
  await writeFile(join(etc, 'nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n')
}

/** Paths of all files and links below a folder. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}
