/** Fuzzes the Secrets in which Helm records releases. */
import { gzipSync } from 'node:zlib'
import { attempt, fuzz, jsonOf, jsonValue, textOf } from '@reeve/fuzz'
import type { Secret } from '@reeve/kube'
import fc from 'fast-check'
import { HelmError } from '../src/errors.ts'
import { decodeHistory, decodeRelease } from '../src/release/decode-release.ts'
import { parseHistory, parseList } from '../src/release/parse-summaries.ts'
import { encodeRelease } from '../src/testing/encode-release.ts'

const sample = encodeRelease({ namespace: 'a', name: 'web', values: { x: 1 }, manifest: 'kind: Pod' })
const base64 = (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString('base64'))
const twice = (bytes: Uint8Array) => base64(base64(bytes))

fuzz('release-record', {
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
  // As Secrets hold them; the text may also be the content of the Secret itself.
  packed: [(input) => twice(gzipSync(input)), twice],
  run(input) {
    readSecret(textOf(input))
    readTables(textOf(input))
  },
})

function readSecret(release: string): void {
  const secret: Secret = { ...sample, data: { release } }
  if (attempt(() => decodeRelease(secret), HelmError) === undefined) return
  decodeHistory([secret], { release: { namespace: 'a', name: 'web' } })
}

/** The error for an invalid table. */
class TableError extends Error {
  override readonly name = 'TableError'
}

function readTables(text: string): void {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return
  }
  const fail = (problem: string) => new TableError(problem)
  attempt(() => [parseHistory([json], fail), parseList([json], fail)], TableError)
}
