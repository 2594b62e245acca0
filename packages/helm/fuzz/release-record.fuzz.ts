/** Fuzzes the Secrets in which Helm records releases. */
import { gzipSync } from 'node:zlib'
import { attempt, type FuzzTarget, isA, jsonOf, jsonValue, textOf } from '@reeve/fuzz'
import type { Secret } from '@reeve/kube'
import fc from 'fast-check'
import { HelmError } from '../src/errors.ts'
import { decodeHistory, decodeRelease } from '../src/release/decode-release.ts'
import { parseHistory, parseList } from '../src/release/parse-summaries.ts'
import { encodeRelease } from '../src/testing/encode-release.ts'

const sample = encodeRelease({ namespace: 'a', name: 'web', values: { x: 1 }, manifest: 'kind: Pod' })
const twice = (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString('base64')).toString('base64')

export const target: FuzzTarget = {
  description: "Helm's release records: gzip, base64 and JSON, and the tables that Helm prints",
  inputs: jsonOf({
    name: fc.constant('web'),
    namespace: fc.constant('a'),
    version: fc.constantFrom(1, 2, 1.5),
    info: fc.oneof(fc.constant({ status: 'deployed', first_deployed: '2024-01-01T00:00:00Z' }), jsonValue),
    chart: fc.oneof(fc.constant({ metadata: { name: 'web', version: '1.0.0' } }), jsonValue),
    config: jsonValue,
    manifest: fc.constant('kind: Pod'),
    revision: fc.constantFrom('1', 1),
  }),
  dictionary: [
    'name',
    'namespace',
    'version',
    'info',
    'chart',
    'metadata',
    'config',
    'manifest',
    'revision',
    'deployed',
  ],
  isJson: true,
  run(input) {
    const outcomes = [gzipSync(input), input].map((bytes) => decoded(twice(bytes)))
    // The text may also be the content of the Secret itself.
    outcomes.push(decoded(textOf(input)), tables(textOf(input)))
    return outcomes.join(' | ')
  },
}

function decoded(release: string): string {
  const secret: Secret = { ...sample, data: { release } }
  const parsed = attempt(() => decodeRelease(secret), isA(HelmError))
  if ('refusal' in parsed) return parsed.refusal
  const { status, chart, values } = parsed.value
  const history = decodeHistory([secret], { release: { namespace: 'a', name: 'web' } })
  return `ok ${status} ${chart.name} ${Object.keys(values).length > 0} ${history.length}`
}

/** The error for an invalid table. */
class TableError extends Error {
  override readonly name = 'TableError'
}

function tables(text: string): string {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return 'not JSON'
  }
  const fail = (problem: string) => new TableError(problem)
  const parsed = attempt(() => [parseHistory([json], fail), parseList([json], fail)], isA(TableError))
  return 'refusal' in parsed ? parsed.refusal : 'table'
}
