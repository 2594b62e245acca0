/** Patterns in which operators name objects, such as `secrets default/login` or `namespaces *`. */

/** Whether an id such as `secrets default/login` matches; `*` stands for any text. */
export function matchesId(pattern: string, id: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(id)
}
