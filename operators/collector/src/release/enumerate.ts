/** Lists items in a message of bounded length. */

/** More than this are only counted. */
const MAX_NAMED = 10

/**
 * The first of them, and how many there are besides. A chart may have hundreds of objects, and a condition is for people.
 *
 * @example
 * enumerate(['Service web', 'Deployment web']) // Service web, Deployment web
 */
export function enumerate(names: readonly string[], separator = ', '): string {
  const named = names.slice(0, MAX_NAMED).join(separator)
  const others = names.length - MAX_NAMED
  return others > 0 ? `${named} and ${others} more` : named
}
