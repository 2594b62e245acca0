/** Reads a release from the JSON that Helm keeps in its records and prints. */
import { isRecord, type JsonRecord } from '@reeve/http'
import { objectAt, textAt } from '../json-shape.ts'
import type { ChartMetadata, Release, ReleaseStatus } from './release.ts'

const STATUSES: ReadonlySet<string> = new Set<ReleaseStatus>([
  'unknown',
  'deployed',
  'uninstalled',
  'superseded',
  'failed',
  'uninstalling',
  'pending-install',
  'pending-upgrade',
  'pending-rollback',
])

/** The status of that name; any other word is `unknown`. */
export function releaseStatus(text: unknown): ReleaseStatus {
  // The set contains statuses only.
  return typeof text === 'string' && STATUSES.has(text) ? (text as ReleaseStatus) : 'unknown'
}

/**
 * The release that `json` describes. `fail` makes the error for a field that is not what it must be.
 *
 * The chart's own files are left out: they are most of a record and not needed.
 */
export function parseRelease(json: unknown, fail: (problem: string) => Error): Release {
  if (!isRecord(json)) throw fail('is not a JSON object')
  const required = (key: string): string => {
    const text = textAt(json, key)
    if (text === undefined) throw fail(`has no ${key}`)
    return text
  }
  const revision = json.version
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 1) throw fail('has no version')
  const info = objectAt(json, 'info')
  const { config, manifest, hooks } = json
  return {
    name: required('name'),
    namespace: required('namespace'),
    revision,
    status: releaseStatus(info.status),
    chart: parseChart(objectAt(objectAt(json, 'chart'), 'metadata')),
    values: isRecord(config) ? config : {},
    manifest: typeof manifest === 'string' ? manifest : '',
    hooks: Array.isArray(hooks) ? hooks.map((hook) => textOf(hook, fail)) : [],
    description: textAt(info, 'description') ?? '',
    ...optionalTime('firstDeployed', info, 'first_deployed'),
    ...optionalTime('lastDeployed', info, 'last_deployed'),
    labels: {},
  }
}

function textOf(hook: unknown, fail: (problem: string) => Error): string {
  const text = isRecord(hook) ? hook.manifest : undefined
  if (typeof text !== 'string') throw fail('has a hook without a manifest')
  return text
}

/** What the metadata of a chart say. */
export function parseChart(metadata: JsonRecord): ChartMetadata {
  const appVersion = textAt(metadata, 'appVersion')
  return {
    name: textAt(metadata, 'name') ?? '',
    version: textAt(metadata, 'version') ?? '',
    ...(appVersion !== undefined && { appVersion }),
  }
}

function optionalTime<K extends string>(name: K, info: JsonRecord, key: string): Partial<Record<K, string>> {
  const text = textAt(info, key)
  // A computed key makes TypeScript lose its literal type; `K` is a single literal at both callers.
  return text === undefined || Number.isNaN(Date.parse(text)) ? {} : ({ [name]: text } as Record<K, string>)
}
