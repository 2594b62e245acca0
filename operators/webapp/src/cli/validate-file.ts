/** `webapp-operator validate`: what the webhook would say about a file, for CI pipelines and editors. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { parseAllDocuments } from 'yaml'
import type { WebApp } from '../api/webapp.ts'
import { validateWebApp } from '../validate-webapp.ts'
import { completeWebApp } from '../webhooks/admit-webapp.ts'

/** One finding. */
interface Finding {
  readonly object: string
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** Prints findings; answers 0 when nothing would be refused, 1 when something would be, 65 when the file is no YAML. */
export async function validateFile(
  options: { readonly filename: string; readonly output: string },
  print: (line: string) => void,
): Promise<number> {
  const { filename, output } = options
  const content = filename === '-' ? await text(process.stdin) : await readFile(filename, 'utf8')
  const findings: Finding[] = []
  let checked = 0
  for (const document of parseAllDocuments(content)) {
    const [error] = document.errors
    if (error !== undefined) {
      print(`${filename}: ${error.message}`)
      return 65
    }
    const object: unknown = document.toJS()
    if (!isWebApp(object)) continue
    checked++
    findings.push(...findingsOf(object))
  }
  const isRefused = findings.some(({ severity }) => severity === 'error')
  if (output === 'json') print(JSON.stringify({ checked, findings }))
  else printText(findings, checked, print)
  return isRefused ? 1 : 0
}

function findingsOf(webapp: WebApp): readonly Finding[] {
  const { problems, warnings } = validateWebApp(completeWebApp(webapp))
  const object = webapp.metadata.name ?? '(no name)'
  return [
    ...problems.map(({ field, message }): Finding => ({ object, severity: 'error', message: `${field}: ${message}` })),
    ...warnings.map((message): Finding => ({ object, severity: 'warning', message })),
  ]
}

function printText(findings: readonly Finding[], checked: number, print: (line: string) => void): void {
  const width = Math.max(0, ...findings.map(({ object }) => object.length))
  for (const { object, severity, message } of findings)
    print(`${object.padEnd(width)}  ${severity.padEnd(7)}  ${message}`)
  const errors = findings.filter(({ severity }) => severity === 'error').length
  print(
    `${checked} WebApp${checked === 1 ? '' : 's'} checked, ${errors} error${errors === 1 ? '' : 's'}, ${findings.length - errors} warning${findings.length - errors === 1 ? '' : 's'}`,
  )
}

/** Other kinds in the file are none of our business; something that claims to be a WebApp is checked whatever it holds. */
function isWebApp(value: unknown): value is WebApp {
  if (typeof value !== 'object' || value === null) return false
  const { apiVersion, kind, metadata } = value as Partial<WebApp>
  return apiVersion === 'example.com/v1' && kind === 'WebApp' && typeof metadata === 'object' && metadata !== null
}
