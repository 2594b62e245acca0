/**
 * Cuts the versions of one chart out of an `index.yaml` without parsing the rest. Parsing YAML takes seconds per MiB, an
 * index of a busy repository has several, and it would block the event loop: no lease could be renewed.
 */

/** One version of a chart. */
export interface IndexItem {
  readonly version: string
  /** The YAML of the item: a mapping. */
  readonly text: string
}

/**
 * The versions of `chart`; none when the index has no such chart, `undefined` when it is not laid out the way Helm writes
 * it, line by line.
 */
export function indexItems(index: string, chart: string): readonly IndexItem[] | undefined {
  const lines = index.split(/\r?\n/)
  const start = lines.findIndex((line) => /^entries:\s*$/.test(line)) + 1
  if (start === 0) return undefined
  const section = sectionOf(lines.slice(start), chart)
  return section === undefined ? undefined : itemsOf(section)
}

/** The lines below the key `chart`. Those of a list may stand as far left as the key that it belongs to. */
function sectionOf(lines: readonly string[], chart: string): readonly string[] | undefined {
  const keyIndent = indentOf(lines.find((line) => isContent(line)) ?? '')
  if (keyIndent === 0) return undefined
  const section: string[] = []
  let isInside = false
  for (const line of lines.filter(isContent)) {
    const indent = indentOf(line)
    if (indent < keyIndent) break
    if (indent > keyIndent || line.startsWith('-', indent)) {
      if (isInside) section.push(line)
      continue
    }
    if (isInside) break
    const [, key] = /^["']?([^"':]+)["']?:\s*$/.exec(line.trimStart()) ?? []
    if (key === undefined) return undefined
    isInside = key === chart
  }
  return section
}

function itemsOf(section: readonly string[]): readonly IndexItem[] | undefined {
  const indent = indentOf(section[0] ?? '')
  const texts: string[] = []
  for (const line of section) {
    // Without its dash, an item is a mapping.
    if (indentOf(line) === indent && line.startsWith('- ', indent)) texts.push(`${line.replace('- ', '  ')}\n`)
    else if (texts.length === 0) return undefined
    else texts[texts.length - 1] += `${line}\n`
  }
  const pattern = new RegExp(`^ {${indent + 2}}version: *["']?([^"'\\s#]+)["']? *$`, 'm')
  const items = texts.map((text) => ({ text, version: pattern.exec(text)?.[1] ?? '' }))
  return items.every(({ version }) => version !== '') ? items : undefined
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

function isContent(line: string): boolean {
  return line.trim() !== '' && !line.trimStart().startsWith('#')
}
