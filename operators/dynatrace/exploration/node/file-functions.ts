/** The functions of `node:fs/promises` that the provisioner uses, through a {@link FileSeam}. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { FileSeam } from './file-seam.ts'

type Options = { readonly recursive?: boolean; readonly force?: boolean }
/** Called with the arguments of the function that it replaces, which code under exploration is compiled against. */
// biome-ignore lint/suspicious/noExplicitAny: each function has its own arguments
export type FileFunction = (seam: FileSeam, ...args: any[]) => Promise<unknown>

/** Functions by name. */
export const FILE_FUNCTIONS: Readonly<Record<string, FileFunction>> = {
  access: async (_, path: string) => fs.accessSync(path),
  lstat: async (_, path: string) => fs.lstatSync(path),
  stat: async (_, path: string) => fs.statSync(path),
  readlink: async (_, path: string) => fs.readlinkSync(path),
  readdir: async (_, path: string, options?: { withFileTypes: true }) =>
    options ? fs.readdirSync(path, options).sort(byName) : fs.readdirSync(path).sort(),
  chmod: (seam, path: string, mode: number) => seam.change('chmod', path, () => fs.chmodSync(path, mode)),
  rename: (seam, from: string, to: string) => seam.change(`rename to`, to, () => fs.renameSync(from, to), from),
  symlink: (seam, target: string, path: string) => seam.change('symlink', path, () => fs.symlinkSync(target, path)),
  link: (seam, target: string, path: string) => seam.change('link', path, () => fs.linkSync(target, path)),
  rmdir: (seam, path: string) => seam.change('rmdir', path, () => fs.rmdirSync(path)),
  rm: remove,
  async mkdir(seam, path: string, options?: fs.MakeDirectoryOptions) {
    if (options?.recursive && fs.existsSync(path)) return
    await seam.change('mkdir', path, () => {
      fs.mkdirSync(path, options)
      seam.stamp(path)
    })
  },
  async writeFile(seam, path: string, data: string, options?: fs.WriteFileOptions) {
    await seam.change('write', path, () => {
      fs.writeFileSync(path, data, options)
      seam.stamp(path)
    })
  },
  async open(seam, path: string, flags = 'r', mode?: number) {
    const open = () => seam.opened(fs.openSync(path, flags, mode), path)
    return handleOf(seam, flags === 'r' ? open() : await seam.change('open', path, open))
  },
}

const byName = (one: fs.Dirent, other: fs.Dirent) => (one.name < other.name ? -1 : 1)

/** File by file, as Node does it. */
async function remove(seam: FileSeam, path: string, options: Options = {}): Promise<void> {
  const status = fs.lstatSync(path, { throwIfNoEntry: false })
  if (status === undefined && options.force) return
  if (!status?.isDirectory() || !options.recursive) {
    await seam.change('unlink', path, () => fs.rmSync(path, { force: options.force ?? false }))
    return
  }
  for (const name of fs.readdirSync(path).sort()) await remove(seam, join(path, name), options)
  await seam.change('rmdir', path, () => fs.rmdirSync(path))
}

/** As much of a `FileHandle` as is used. */
function handleOf(seam: FileSeam, descriptor: number) {
  const change = <R>(verb: string, act: () => R) => seam.change(verb, seam.pathOf(descriptor), act)
  return {
    fd: descriptor,
    writev: (chunks: readonly Uint8Array[], position?: number) =>
      change('write', () => ({ bytesWritten: fs.writevSync(descriptor, chunks, position) })),
    truncate: (length: number) => change('truncate', () => fs.ftruncateSync(descriptor, length)),
    chmod: (mode: number) => change('chmod', () => fs.fchmodSync(descriptor, mode)),
    close: async () => seam.close(descriptor),
  }
}
