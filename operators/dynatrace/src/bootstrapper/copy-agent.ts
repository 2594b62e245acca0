/** Copies an agent out of an image of code modules. */
import { chmod, copyFile, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { draftOf } from './atomic-file.ts'
import { inputError } from './bootstrap-error.ts'
import { isMissing } from './input-files.ts'
import type { Log } from './log.ts'

/** From where to where, and what. */
export interface CopyOptions {
  readonly source: string
  readonly target: string
  /** Scratch folder on the file system of the target; empty to write into the target directly. */
  readonly work: string
  /** Comma-separated technologies; empty or `all` for everything. */
  readonly technology: string
}

/** Before the umask. */
const OPEN_TO_ALL = 0o777
const PERMISSION_BITS = 0o7777

/**
 * Copies an agent, with the modes of its files and folders.
 *
 * *Guarantees*: every file appears whole and is on the disk before its name is. With a work folder the target appears
 * whole, too: if there is one it is complete and not changed, because applications may be using it. After an error there
 * is neither a work folder nor a target.
 *
 * *Errors*: `BOOTSTRAP_INPUT`, and those of the file system.
 */
export async function copyAgent(options: CopyOptions, log: Log): Promise<void> {
  const { target, work } = options
  if (work === '') return copyInto(target, options, log)
  if (await hasContent(target)) {
    log.info({ target }, 'the agent is already installed')
    await rm(work, { recursive: true, force: true })
    return
  }
  try {
    await rm(work, { recursive: true, force: true })
    await mkdir(work, { recursive: true, mode: OPEN_TO_ALL })
    await copyInto(work, options, log)
    await mkdir(dirname(target), { recursive: true })
    await rename(work, target)
  } catch (error) {
    await rm(work, { recursive: true, force: true })
    throw error
  }
}

async function copyInto(target: string, { source, technology }: CopyOptions, log: Log): Promise<void> {
  const umask = process.umask(0)
  try {
    if (!(await stat(source)).isDirectory()) throw inputError(`--source: ${source} is not a directory`)
    const wanted = technology.trim()
    if (wanted === '' || wanted === 'all') await copyFolder(source, target)
    else await copyListed(source, target, await listedFiles(source, wanted, log))
  } catch (error) {
    if (isMissing(error)) throw inputError(`--source: ${source} does not exist or contains no complete agent`, error)
    throw error
  } finally {
    process.umask(umask)
  }
}

async function copyFolder(source: string, target: string): Promise<void> {
  await makeFolder(source, target)
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)]
    if (entry.isDirectory()) await copyFolder(from, to)
    else await copyOne(from, to)
  }
}

async function copyListed(source: string, target: string, paths: Iterable<string>): Promise<void> {
  await mkdir(target, { recursive: true, mode: OPEN_TO_ALL })
  const made = new Set(['.'])
  const makeParents = async (folder: string): Promise<void> => {
    if (made.has(folder)) return
    made.add(folder)
    await makeParents(dirname(folder))
    await makeFolder(join(source, folder), join(target, folder))
  }
  for (const path of paths) {
    await makeParents(dirname(path))
    await copyOne(join(source, path), join(target, path))
  }
}

/** A link to a file becomes that file. */
async function copyOne(source: string, target: string): Promise<void> {
  const status = await stat(source)
  if (!status.isFile()) throw inputError(`${source} is neither a file nor a folder, or links to a folder`)
  const draft = draftOf(target)
  await rm(draft, { recursive: true, force: true })
  await copyFile(source, draft)
  const file = await open(draft, 'r')
  try {
    await file.chmod(status.mode & PERMISSION_BITS)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, target)
}

async function makeFolder(source: string, target: string): Promise<void> {
  const { mode } = await stat(source)
  const made = await mkdir(target, { recursive: true, mode: mode & PERMISSION_BITS })
  // One that existed may belong to another user, such as the root of a volume.
  if (made !== undefined) await chmod(target, mode & PERMISSION_BITS)
}

/** The files that the manifest lists for technologies, on all processors. */
async function listedFiles(source: string, technologies: string, log: Log): Promise<ReadonlySet<string>> {
  const listed = parseManifest(await readFile(join(source, 'manifest.json'), 'utf8'))
  const paths = new Set<string>()
  for (const name of technologies.split(',').map((part) => part.trim())) {
    const byProcessor = listed[name]
    if (byProcessor === undefined) log.info({ technology: name }, 'the agent does not have this technology')
    for (const { path } of Object.values(byProcessor ?? {}).flat()) paths.add(inside(path))
  }
  return paths
}

type Technologies = Readonly<Record<string, Readonly<Record<string, readonly { readonly path: string }[]>>>>

function parseManifest(text: string): Technologies {
  try {
    const { technologies } = JSON.parse(text)
    const files = Object.values<object>(technologies)
      .flatMap((each) => Object.values(each))
      .flat()
    if (files.every(({ path }) => typeof path === 'string')) return { ...technologies }
  } catch (error) {
    throw inputError('manifest.json is malformed', error)
  }
  throw inputError('manifest.json lists a file without a path')
}

function inside(path: string): string {
  const plain = normalize(path)
  if (plain.startsWith('/') || plain.split('/').includes('..')) throw inputError(`manifest.json: ${path} leads out`)
  return plain
}

async function hasContent(folder: string): Promise<boolean> {
  return readdir(folder).then(
    (names) => names.length > 0,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )
}
