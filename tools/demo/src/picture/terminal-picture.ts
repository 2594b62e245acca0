/** Renders lines of a terminal as an SVG image, which is readable on light and dark pages. */

/** A piece of a line. */
interface Span {
  /** Where it begins, in characters. */
  readonly column: number
  readonly text: string
  /** Class of the style sheet. */
  readonly style: string
}

const STYLES: Readonly<Record<string, string>> = {
  1: 'bold',
  2: 'dim',
  31: 'red',
  32: 'green',
  33: 'yellow',
  36: 'cyan',
}
const ESCAPE = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`)
/** Two or more spaces separate columns, which are placed one by one: widths of fonts differ. */
const COLUMNS = /\S+(?: \S+)*/g
const SIZE = 13
const CHARACTER = 7.9
const LINE = 19
const MARGIN = 18

const STYLE_SHEET = `
    .page { fill: #ffffff; stroke: #d0d7de }
    text { font: ${SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; fill: #1f2328 }
    .bold { font-weight: 700 }
    .dim { fill: #656d76 }
    .green { fill: #116329 }
    .yellow { fill: #7d4e00 }
    .red { fill: #a40e26 }
    .cyan { fill: #0550ae }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; stroke: #30363d }
      text { fill: #e6edf3 }
      .dim { fill: #8d96a0 }
      .green { fill: #7ee787 }
      .yellow { fill: #e3b341 }
      .red { fill: #ffa198 }
      .cyan { fill: #79c0ff }
    }
  `

/**
 * The image of a terminal with these lines, which may have escape sequences for colours.
 *
 * @example
 * terminalPicture(['\u001b[1mWebApp\u001b[0m  Ready'], 'The WebApp operator')
 */
export function terminalPicture(lines: readonly string[], title: string): string {
  const parsed = lines.map(spansOf)
  const columns = Math.max(...parsed.flat().map(({ column, text }) => column + text.length))
  const width = Math.ceil(columns * CHARACTER + 2 * MARGIN)
  const height = lines.length * LINE + 2 * MARGIN
  const rows = parsed.flatMap((spans, index) => {
    const y = MARGIN + index * LINE + SIZE
    return spans.length === 0 ? [] : [`  <text y="${y}">${spans.map(element).join('')}</text>`]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
  <title>${escaped(title)}</title>
  <style>${STYLE_SHEET}</style>
  <rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${rows.join('\n')}
</svg>
`
}

function element({ column, text, style }: Span): string {
  const x = (MARGIN + column * CHARACTER).toFixed(1)
  return `<tspan x="${x}"${style === '' ? '' : ` class="${style}"`}>${escaped(text)}</tspan>`
}

function spansOf(line: string): readonly Span[] {
  const spans: Span[] = []
  let column = 0
  let style = ''
  for (const [index, part] of line.split(ESCAPE).entries()) {
    // Every other part is the code of an escape sequence.
    if (index % 2 === 1) {
      style = STYLES[part] ?? ''
      continue
    }
    for (const { 0: text, index: at } of part.matchAll(COLUMNS)) spans.push({ column: column + at, text, style })
    column += part.length
  }
  return spans
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** The lines of a picture, with one space between columns. */
export function linesInPicture(svg: string): readonly string[] {
  const rows = [...svg.matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, row = '']) => row)
  const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
  return rows.map((row) =>
    [...row.matchAll(/<tspan[^>]*>(.*?)<\/tspan>/g)].map(([, text = '']) => unescaped(text)).join(' '),
  )
}
