/** Objects of every kind in both formats, which are part of the Kubernetes sources and not copied here. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../src/json.ts'
import { loadProtobufDecoder } from '../src/protobuf/decoder.ts'

function testData(): string | undefined {
  try {
    const cache = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim()
    const [folder] = readdirSync(join(cache, 'k8s.io')).filter((name) => name.startsWith('api@v0.35.'))
    const path = folder === undefined ? undefined : join(cache, 'k8s.io', folder, 'testdata', 'HEAD')
    return path !== undefined && existsSync(path) ? path : undefined
  } catch {
    // The programs of the control plane may have been built elsewhere.
    return undefined
  }
}

const folder = testData()
const decoder = loadProtobufDecoder()

describe.skipIf(folder === undefined)(
  'a test object of Kubernetes (skipped without k8s.io/api in the cache of Go)',
  () => {
    const served = JSON.parse(readFileSync(new URL('../data/protobuf.json', import.meta.url), 'utf8')).packages
    const names = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith('.pb'))
    const vectors = names.flatMap((name) => {
      const bytes = readFileSync(join(folder ?? '', name))
      const json: JsonObject = JSON.parse(readFileSync(join(folder ?? '', name.replace(/pb$/, 'json')), 'utf8'))
      return Object.hasOwn(served, String(json.apiVersion)) ? [{ name, bytes, json }] : []
    })

    it('exists for most kinds', () => {
      expect(vectors.length).toBeGreaterThan(80)
    })

    it.each(vectors)('$name decodes to its JSON', ({ bytes, json }) => {
      expect(decoder.decode(bytes)).toEqual(json)
    })
  },
)
