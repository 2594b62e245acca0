import { defineCrd } from '@reeve/crd'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { whyNotSettled } from './goal.ts'

const condition = Type.Object({ type: Type.String(), status: Type.String() })
const crd = defineCrd({
  group: 'example.com',
  kind: 'Box',
  plural: 'boxes',
  scope: 'Namespaced',
  versions: {
    v1: {
      spec: Type.Object({}),
      status: Type.Object({ conditions: Type.Optional(Type.Array(condition)), phase: Type.Optional(Type.String()) }),
    },
  },
})
const plain = defineCrd({
  group: 'example.com',
  kind: 'Note',
  plural: 'notes',
  scope: 'Namespaced',
  versions: { v1: { spec: Type.Object({}), status: Type.Object({ text: Type.Optional(Type.String()) }) } },
})

const box = (status: object | undefined, metadata: object = {}) => ({
  metadata: { generation: 2, ...metadata },
  status,
})
const ready = (status: string, more: object = {}) => ({ conditions: [{ type: 'Ready', status, ...more }] })

describe('a declared object is settled', () => {
  it.each([
    ['a condition that reports it', ready('True')],
    ['the same for its generation', ready('True', { observedGeneration: 2 })],
    ['an observed generation', { observedGeneration: 2, phase: 'Running' }],
    ['conditions that say neither', { conditions: [{ type: 'Paused', status: 'False' }] }],
    ['a phase that reports no error', { phase: 'Running' }],
  ])('with %s', (_, status) => {
    expect(whyNotSettled(crd, box(status))).toBeUndefined()
  })

  it('when its schema has no field for it', () => {
    expect(whyNotSettled(plain, box(undefined))).toBeUndefined()
  })
})

describe('a declared object is not settled', () => {
  it.each([
    [ready('False', { reason: 'Broken', message: 'no image' }), 'the condition Ready is False (Broken: no image)'],
    [ready('Unknown'), 'the condition Ready is Unknown'],
    [ready('True', { observedGeneration: 1 }), 'the condition Ready is about generation 1, not 2'],
    [{ observedGeneration: 1, ...ready('True') }, 'status.observedGeneration is 1, its generation 2'],
    [{ conditions: [{ type: 'Failed', status: 'True' }] }, 'the condition Failed is True'],
    [
      { conditions: [...ready('True').conditions, { type: 'Degraded', status: 'True' }] },
      'the condition Degraded is True',
    ],
    [{ phase: 'Error' }, 'its phase is Error'],
    [undefined, 'its status says nothing: neither of conditions, phase is set'],
  ])('with the status %j', (status, why) => {
    expect(whyNotSettled(crd, box(status))).toBe(why)
  })

  it('as long as it is being deleted', () => {
    const deleting = { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['example.com/a'] }
    expect(whyNotSettled(crd, box(ready('True'), deleting))).toBe(
      'it is still being deleted, finalizers: example.com/a',
    )
  })
})
