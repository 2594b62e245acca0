/** Builds the page of the console from `ui`, in memory. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { remediesIn } from './remedies.ts'

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

/** The files by name: `index.html` for a console, `board.html` for a board, a script and a style sheet. */
export async function buildPage(): Promise<ReadonlyMap<string, Buffer>> {
  const reference = await readFile(path('../../../docs/reference.md'), 'utf8')
  const { outputFiles } = await build({
    entryPoints: [path('../ui/main.tsx')],
    absWorkingDir: path('..'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { REMEDIES: JSON.stringify(remediesIn(reference)) },
    entryNames: '[name]-[hash]',
    outdir: path('../dist/page'),
    legalComments: 'none',
    logLevel: 'silent',
    write: false,
  })
  const files = outputFiles.map((file) => [basename(file.path), Buffer.from(file.contents)] as const)
  const named = (extension: string) => files.find(([name]) => name.endsWith(extension))?.[0] ?? ''
  const html = (root: string) => Buffer.from(pageHtml({ script: named('.js'), style: named('.css'), root }))
  return new Map([
    ...files,
    ['index.html', html('<div id="app"></div>')],
    ['board.html', html('<div id="app" data-board=""></div>')],
  ])
}

function pageHtml(of: { readonly script: string; readonly style: string; readonly root: string }): string {
  const { script, style, root } = of
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reeve console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/${style}">
<script type="module" src="/${script}"></script>
</head>
<body>${root}<noscript>This page needs JavaScript.</noscript></body>
</html>
`
}
