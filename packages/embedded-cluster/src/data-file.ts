/** Locates the data files of the package. */
import { existsSync } from 'node:fs'

/**
 * The URL of a data file: in the folder `data` of the package or, if the package was bundled into another program, in
 * the folder `data` next to it.
 *
 * @param module the URL of this module
 */
export function dataFile(name: string, module: string = import.meta.url): URL {
  const own = new URL(`../data/${name}`, module)
  return existsSync(own) ? own : new URL(`./data/${name}`, module)
}
