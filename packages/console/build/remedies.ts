/** What to do about each error code, from the tables of the reference. */

/** The meaning of a code, and what to do. */
export type Remedies = Readonly<Record<string, { readonly meaning: string; readonly remedy: string }>>

const ROW = /^\|([^|]+)\|([^|]+)\|([^|]+)\|$/
const CODE = /`([A-Z][A-Z0-9_]+)`/g

/**
 * The remedies in a Markdown text: rows of three cells whose first one names codes.
 *
 * @example
 * remediesIn('| `STALE_VIEW` | the view was older | retried automatically |')
 */
export function remediesIn(markdown: string): Remedies {
  const rows = markdown.split('\n').flatMap((line) => {
    const [, codes = '', meaning = '', remedy = ''] = ROW.exec(line.trim()) ?? []
    return [...codes.matchAll(CODE)].map(([, code = '']) => [code, { meaning: plain(meaning), remedy: plain(remedy) }])
  })
  return Object.fromEntries(rows)
}

function plain(text: string): string {
  return text.trim().replaceAll('`', '')
}
