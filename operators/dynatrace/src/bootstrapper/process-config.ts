/** `ruxitagentproc.conf`: the settings shipped with an agent, overridden by those of the tenant. */
import { isRecord } from '@reeve/http/json-record'
import { CONTAINER_CONFIG_PATH } from '../injection-contract/paths.ts'
import { inputError } from './bootstrap-error.ts'

/** Values by key, by section. */
type Sections = Map<string, Map<string, string>>

/** Where agents write: the agent itself is read-only. Quotes are part of the value. */
const STORAGE = `"${CONTAINER_CONFIG_PATH}/oneagent"`

/**
 * The settings of one pod.
 *
 * Relative paths would resolve against the place of the file, which is not beside the agent: libraries get their absolute
 * path, and the folders for logs and data are left out in favour of `storage`.
 *
 * *Errors*: `BOOTSTRAP_INPUT` if `overrides` is not the expected JSON.
 *
 * @param shipped the file of the agent
 * @param overrides JSON with `properties`, each a `section`, `key` and `value`
 * @param installPath the agent as application containers see it
 *
 * @example
 * mergeProcessConfig('[general]\nlogDir ../log\n', '{"properties":[]}', '/opt/dynatrace/oneagent')
 * // '[general]\nstorage "/var/lib/dynatrace/oneagent"\n\n'
 */
export function mergeProcessConfig(shipped: string, overrides: string, installPath: string): string {
  const sections = parseSections(shipped)
  for (const { section, key, value } of parseProperties(overrides)) sectionOf(sections, section).set(key, value)
  for (const [name, settings] of sections) {
    for (const [key, value] of settings) {
      if (key.startsWith('libraryPath')) settings.set(key, absolutePath(value, installPath))
    }
    if (name !== 'general') continue
    settings.delete('logDir')
    settings.delete('dataStorageDir')
  }
  sectionOf(sections, 'general').set('storage', STORAGE)
  return inOrder(sections)
    .map(([name, settings]) => sectionText(name, inOrder(settings)))
    .join('')
}

/** The text of one section: `key value` lines, settings with an empty value included, and an empty line. */
export function sectionText(name: string, settings: Iterable<readonly [string, string]>): string {
  return `[${name}]\n${[...settings].map(([key, value]) => `${key} ${value}\n`).join('')}\n`
}

/**
 * A header may stand anywhere in a line. A value counts only if there is exactly one space in the line: agents ship no
 * other, and a value with spaces becomes empty.
 */
function parseSections(text: string): Sections {
  const sections: Sections = new Map()
  let current = ''
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const header = /\[(.*)\]/.exec(line)?.[1]
    if (header !== undefined) {
      current = header.trim()
      sectionOf(sections, current)
      continue
    }
    const [key = '', value = '', ...more] = line.split(' ')
    sectionOf(sections, current).set(key.trim(), more.length === 0 ? value.trim() : '')
  }
  return sections
}

interface Property {
  readonly section: string
  readonly key: string
  readonly value: string
}

function parseProperties(json: string): readonly Property[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(json)
  } catch {
    // The content may hold the token of the tenant, which the message of the parser would quote.
    throw inputError('ruxitagentproc.json is not valid JSON')
  }
  const properties = isRecord(parsed) ? (parsed.properties ?? []) : undefined
  if (!Array.isArray(properties)) throw inputError('ruxitagentproc.json has no list of properties')
  return properties.map((property: unknown, index) => {
    const { section, key, value } = isRecord(property) ? property : {}
    if (typeof section === 'string' && typeof key === 'string' && typeof value === 'string') {
      return { section, key, value }
    }
    throw inputError(`ruxitagentproc.json: properties[${index}] needs a section, a key and a value`)
  })
}

function absolutePath(value: string, installPath: string): string {
  const quote = value.startsWith('"') ? '"' : ''
  return `${quote}${installPath}/agent/${value.slice(quote.length).replaceAll('../', '')}`
}

function sectionOf(sections: Sections, name: string): Map<string, string> {
  const settings = sections.get(name) ?? new Map<string, string>()
  sections.set(name, settings)
  return settings
}

function inOrder<V>(entries: ReadonlyMap<string, V>): readonly (readonly [string, V])[] {
  return [...entries].toSorted(([left], [right]) => (left < right ? -1 : 1))
}
