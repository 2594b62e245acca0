/** The files of the page: built before by a package or an image, or built now in the repository. */
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'

/** One file that is served. */
export interface PageFile {
  readonly contentType: string
  readonly body: Buffer
  /** Its name contains a hash of its content. */
  readonly isImmutable: boolean
}

/** By path, such as `/index.html`. */
export type PageFiles = ReadonlyMap<string, PageFile>

/** Where a build puts the page: beside a bundle, and in a package. */
const BUILT = ['./page/', '../../page/']

/** Builds the page from its sources; not part of packages, which contain the built page. */
const BUILDER = '../../build/build-page.ts'

/** What is used of that module; it is not compiled with the package, so its own type cannot be named here. */
interface Builder {
  buildPage(): Promise<ReadonlyMap<string, Buffer>>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/**
 * Loads the page. In the repository it is built in memory, in a fraction of a second.
 *
 * *Errors*: when it was neither built nor can be, which is a mistake of the package.
 */
export async function loadPage(): Promise<PageFiles> {
  for (const folder of BUILT) {
    const files = await readFolder(new URL(folder, import.meta.url))
    if (files !== undefined) return asPage(files)
  }
  // Not a literal: bundlers must not follow it.
  const builder = new URL(BUILDER, import.meta.url).href
  try {
    const { buildPage } = (await import(builder)) as Builder
    return asPage(await buildPage())
  } catch (cause) {
    throw new Error('the page of the console is missing from this installation: build it with npm run build:files', {
      cause,
    })
  }
}

function asPage(files: ReadonlyMap<string, Buffer>): PageFiles {
  return new Map(
    [...files].map(([name, body]) => [
      `/${name}`,
      { contentType: TYPES[extname(name)] ?? 'application/octet-stream', body, isImmutable: !name.endsWith('.html') },
    ]),
  )
}

async function readFolder(folder: URL): Promise<ReadonlyMap<string, Buffer> | undefined> {
  let names: readonly string[]
  try {
    names = await readdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, folder))] as const)))
}
