/** Finds the tables that are shipped with the package. */
import { existsSync } from 'node:fs'

/**
 * The address of a table: in the folder `data` of the package or, when the package was bundled into another program,
 * in the folder `data` beside that.
 *
 * @param module where this code was loaded from
 */
export function dataFile(name: string, module: string = import.meta.url): URL {
  const own = new URL(`../data/${name}`, module)
  return existsSync(own) ? own : new URL(`./data/${name}`, module)
}
