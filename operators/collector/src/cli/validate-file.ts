/** `collector-operator validate`: what the webhook would say about a file, for CI pipelines and editors. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { parseAllDocuments } from 'yaml'
import type { Collector } from '../api/collector.ts'
import { parseSettings } from '../settings.ts'
import { type ValidationRules, validateCollector } from '../validate-collector.ts'
import { completeCollector } from '../webhook.ts'

/** The flags of the command. */
export interface ValidateFlags {
  readonly filename: string
  readonly settings?: string
  readonly output: string
}

/** Prints findings; answers 0 when nothing would be refused, 1 when something would be, 65 when the file is no YAML. */
export async function validateFile(flags: ValidateFlags, print: (line: string) => void): Promise<number> {
  const { filename, output } = flags
  const rules = await rulesOf(flags)
  const content = filename === '-' ? await text(process.stdin) : await readFile(filename, 'utf8')
  const findings: { readonly object: string; readonly message: string }[] = []
  let checked = 0
  for (const document of parseAllDocuments(content)) {
    const [error] = document.errors
    if (error !== undefined) {
      print(`${filename}: ${error.message}`)
      return 65
    }
    const object: unknown = document.toJS()
    if (!isCollector(object)) continue
    checked++
    const problems = validateCollector(completeCollector(object), rules)
    const name = object.metadata.name ?? '(no name)'
    findings.push(...problems.map(({ field, message }) => ({ object: name, message: `${field}: ${message}` })))
  }
  if (output === 'json') print(JSON.stringify({ checked, findings }))
  else {
    for (const { object, message } of findings) print(`${object}  error  ${message}`)
    print(`Collectors checked: ${checked}, errors: ${findings.length}`)
  }
  return findings.length > 0 ? 1 : 0
}

async function rulesOf({ settings }: ValidateFlags): Promise<ValidationRules> {
  if (settings === undefined) return {}
  const { clusters, chartOverrides = false } = parseSettings(await readFile(settings, 'utf8'))
  return { clusters: Object.keys(clusters), areChartOverridesAllowed: chartOverrides }
}

/** Other kinds in the file are none of our business; what claims to be a Collector is checked whatever it holds. */
function isCollector(value: unknown): value is Collector {
  if (typeof value !== 'object' || value === null) return false
  const { apiVersion, kind, metadata } = value as Partial<Collector>
  return (
    apiVersion === 'example.com/v1alpha' && kind === 'Collector' && typeof metadata === 'object' && metadata !== null
  )
}
