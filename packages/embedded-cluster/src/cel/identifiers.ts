/** Field names in expressions: names that are not identifiers are escaped. */

const keywords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/**
 * The identifier an expression uses for a field: `a-b` is `a__dash__b`, `namespace` is `__namespace__`. `undefined` for
 * names that cannot be escaped; expressions cannot access those fields.
 */
export function escapeFieldName(name: string): string | undefined {
  if (keywords.has(name)) return `__${name}__`
  const escaped = name.replaceAll(/__|[./-]/g, (part) => escapes[part] ?? part)
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) ? escaped : undefined
}
