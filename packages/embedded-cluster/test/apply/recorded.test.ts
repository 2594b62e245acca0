/** Replays sequences of writes that were recorded on a real API server. */
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { loadBuiltinSchemas } from '../../src/schema/definitions.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { type RecordedStep, replay } from './replay-recording.ts'

interface Recording {
  schema?: Schema
  sequences: { name: string; steps: RecordedStep[] }[]
}

function read(file: string): Recording {
  return JSON.parse(readFileSync(new URL(`golden/${file}`, import.meta.url), 'utf8'))
}

describe('field ownership as recorded on a real API server', () => {
  const custom = read('custom-resource.json')
  for (const { name, steps } of custom.sequences) {
    it(`of custom resource ${name}, ${steps.length} writes`, () => {
      replay(custom.schema, 'probe.io/v1', steps, true)
    })
  }

  const schemaOf = loadBuiltinSchemas()
  for (const { name, steps } of read('built-in.json').sequences) {
    const isDeployment = name.startsWith('d')
    const [group, kind] = isDeployment ? ['apps', 'Deployment'] : ['', 'ConfigMap']
    it(`of ${kind} ${name}, ${steps.length} writes`, () => {
      replay(schemaOf({ group, version: 'v1', kind }), isDeployment ? 'apps/v1' : 'v1', steps, false)
    })
  }
})
