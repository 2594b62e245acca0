import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readScenario } from './scenario-file.ts'

const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'notes.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Note', plural: 'notes' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const note = { apiVersion: 'example.com/v1', kind: 'Note', metadata: { name: 'a', namespace: 'default' } }
const complete = { install: [crd], steps: [{ apply: note }] }

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-scenario-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function read(content: unknown) {
  const path = join(folder, 'scenario.yaml')
  await writeFile(path, JSON.stringify(content))
  return readScenario(path)
}

describe('a scenario file', () => {
  it('has steps that are named after what they do', async () => {
    const { steps } = await read({
      ...complete,
      steps: [{ apply: note }, { scale: { ...note, replicas: 3 } }, { apply: note }, { name: 'go', delete: note }],
    })
    expect(steps.map(({ name }) => name)).toEqual(['apply Note a', 'scale Note a to 3', 'apply Note a (2)', 'go'])
  })

  it('names files next to it', async () => {
    await writeFile(join(folder, 'crd.yaml'), JSON.stringify(crd))
    await writeFile(join(folder, 'notes.yaml'), `${JSON.stringify(note)}\n---\n${JSON.stringify(note)}\n`)
    const { crds, steps } = await read({ install: ['crd.yaml'], steps: [{ apply: 'notes.yaml' }] })
    expect(crds).toHaveLength(1)
    expect(steps[0]?.action).toMatchObject({ type: 'apply', objects: [note, note] })
  })

  it.each([
    [{ ...complete, step: [] }, 'step is not a known field; use'],
    [{ ...complete, steps: [] }, 'steps is empty: name at least one thing that a user does'],
    [{ ...complete, steps: [{ apply: note, delete: note }] }, 'steps[0] must have one of apply, patch, delete'],
    [{ ...complete, steps: [{ aply: note }] }, 'steps[0] must have one of apply, patch, delete'],
    [{ ...complete, steps: [{ apply: note, gaol: 'any' }] }, 'steps[0].gaol is not a known field; use'],
    [{ ...complete, steps: [{ apply: { kind: 'Note' } }] }, 'steps[0].apply must be a Kubernetes object with'],
    [{ ...complete, steps: [{ apply: 'missing.yaml' }] }, 'missing.yaml does not exist'],
    [{ ...complete, steps: [{ scale: note }] }, 'steps[0].scale.replicas must be a whole number'],
    [{ ...complete, settled: { quiet: '5' } }, 'settled.quiet must be a duration such as 5s, not "5"'],
    [{ ...complete, install: [] }, 'install must contain the CustomResourceDefinition'],
    [
      { ...complete, operator: { webhooks: [{ service: 'a/b', port: 9 }] } },
      'operator.webhooks[0].port must be 1 to 4',
    ],
    [[], 'the scenario must be an object'],
  ])('is rejected with the field that is wrong: %j', async (content, message) => {
    await expect(read(content)).rejects.toThrow(message)
  })
})
