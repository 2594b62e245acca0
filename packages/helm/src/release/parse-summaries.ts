/** Reads the tables that Helm prints of releases and their revisions. */
import { isRecord, type JsonRecord } from '@reeve/http'
import { textAt } from '../json-shape.ts'
import { releaseStatus } from './parse-release.ts'
import type { ReleaseSummary, RevisionSummary } from './release.ts'

type Fail = (problem: string) => Error

/** The output of `helm history`, oldest first. */
export function parseHistory(json: unknown, fail: Fail): readonly RevisionSummary[] {
  return rows(json, fail)
    .map((row) => ({ ...columns(row, fail), description: textAt(row, 'description') ?? '' }))
    .sort((a, b) => a.revision - b.revision)
}

/** The output of `helm list`. */
export function parseList(json: unknown, fail: Fail): readonly ReleaseSummary[] {
  return rows(json, fail).map((row) => {
    const [name, namespace] = [textAt(row, 'name'), textAt(row, 'namespace')]
    if (name === undefined || namespace === undefined) throw fail('lists a release without name or namespace')
    return { name, namespace, ...columns(row, fail) }
  })
}

function columns(row: JsonRecord, fail: Fail) {
  // The list has revisions as texts, the history as numbers.
  const revision = typeof row.revision === 'string' ? Number(row.revision) : row.revision
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 1)
    throw fail('lists a release without a revision')
  return {
    revision,
    status: releaseStatus(row.status),
    chart: textAt(row, 'chart') ?? '',
    appVersion: textAt(row, 'app_version') ?? '',
    updated: textAt(row, 'updated') ?? '',
  }
}

function rows(json: unknown, fail: Fail): readonly JsonRecord[] {
  if (!Array.isArray(json) || !json.every(isRecord)) throw fail('is not a list of objects')
  return json
}
