/** Folders for tests that need real files. */
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that disappears at the end of the test. */
export interface ScratchFolder extends AsyncDisposable {
  readonly path: string
  /** An empty folder inside. */
  readonly target: string
}

/** Makes one. */
export async function scratchFolder(): Promise<ScratchFolder> {
  const path = await mkdtemp(join(tmpdir(), 'reeve-archives-'))
  const target = join(path, 'target')
  await mkdir(target)
  return { path, target, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Everything below a folder: content of files, `-> target` of links, `/` for folders, each with its permissions. */
export async function listing(folder: string, prefix = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of (await readdir(folder)).toSorted()) {
    const path = join(folder, name)
    const status = await lstat(path)
    const mode = (status.mode & 0o7777).toString(8)
    if (status.isSymbolicLink()) found[`${prefix}${name}`] = `-> ${await readlink(path)}`
    else if (!status.isDirectory()) found[`${prefix}${name}`] = `${mode} ${await readFile(path, 'utf8')}`
    else Object.assign(found, { [`${prefix}${name}`]: `${mode} /` }, await listing(path, `${prefix}${name}/`))
  }
  return found
}
