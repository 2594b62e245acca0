/** Reads a collection page by page into one consistent list. */
import type { ListOptions } from './client.ts'
import { isExpired } from './error-predicates.ts'
import type { KubeList, KubeObject, Stored } from './objects.ts'

/** Reads one page. */
export type PageReader<T extends KubeObject> = (options: ListOptions) => Promise<KubeList<T>>

/**
 * Follows `continue` to the end. All pages show the collection at the resourceVersion of the first.
 *
 * If that version expires half-way (410), the list starts again unpaged: it cannot expire, while pagination could
 * expire repeatedly.
 */
export async function readAllPages<T extends KubeObject>(
  options: ListOptions,
  readPage: PageReader<T>,
): Promise<KubeList<T>> {
  try {
    return await followPages(options, readPage)
  } catch (error) {
    if (!isExpired(error) || options.limit === 0) throw error
    const { continue: _discarded, ...fromStart } = options
    return followPages({ ...fromStart, limit: 0 }, readPage)
  }
}

async function followPages<T extends KubeObject>(options: ListOptions, readPage: PageReader<T>): Promise<KubeList<T>> {
  const first = await readPage(options)
  if (!first.metadata.continue) return first
  const items: Stored<T>[] = [...first.items]
  // The continue token determines the version; the server rejects a request that also specifies one.
  const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options
  let page = first
  while (page.metadata.continue) {
    page = await readPage({ ...rest, continue: page.metadata.continue })
    for (const item of page.items) items.push(item)
  }
  const { continue: _end, remainingItemCount: _none, ...metadata } = page.metadata
  return { ...first, metadata, items }
}
