/** @module Reports of explorations as one file that shows the same views as a console. */
import { createHash } from 'node:crypto'
import { loadPage } from '../page/page-files.ts'
import type { ReportData } from '../wire.ts'

export type { EndState, ReportData, ReportedDivergence, ReportedExploration } from '../wire.ts'

/**
 * A report as HTML: one file without anything from elsewhere, which runs no script but its own.
 *
 * @example
 * await writeFile('report.html', await reportPage({ generatedMs: Date.now(), durationMs, summary, explorations }))
 */
export async function reportPage(data: ReportData): Promise<string> {
  const page = await loadPage()
  const textOf = (extension: string) =>
    [...page].find(([path]) => path.endsWith(extension))?.[1].body.toString('utf8') ?? ''
  // Nothing in them may end the element that they stand in.
  const script = textOf('.js').replaceAll('</script', '<\\/script')
  const style = textOf('.css').replaceAll('</style', '<\\/style')
  const json = JSON.stringify(data).replaceAll('<', '\\u003c')
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Exploration</title>
<style>${style}</style>
</head>
<body><div id="app"></div>
<script type="application/json" id="report">${json}</script>
<script type="module">${script}</script>
</body>
</html>
`
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
