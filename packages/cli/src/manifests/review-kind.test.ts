import { type KubeObject, resource } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { parseManifests } from './manifest-file.ts'
import { type Finding, printReview } from './review.ts'
import { reviewKind } from './review-kind.ts'

interface Greeting extends KubeObject {
  readonly spec?: { readonly text?: string }
}

const Greetings = resource<Greeting>({
  group: 'example.com',
  version: 'v1',
  kind: 'Greeting',
  plural: 'greetings',
  namespaced: true,
})

/** Rejects every text except hello, and warns about a long name. */
const review = (text: string) =>
  reviewKind(parseManifests('hello.yaml', text), Greetings, ({ metadata, spec }) => ({
    problems: spec?.text === 'hello' ? [] : [{ field: 'spec.text', message: 'say hello' }],
    warnings: metadata.name === 'long' ? [{ field: 'metadata.name', message: 'is long' }] : [],
  }))

const lines = (findings: readonly Finding[]) => findings.map(({ line }) => line)

describe('a review of one kind', () => {
  it('adds the position and the object to every finding, in the order of the file', () => {
    const text = 'apiVersion: example.com/v1\nkind: Greeting\nmetadata:\n  name: long\nspec:\n  text: go away\n'
    const common = { file: 'hello.yaml', column: 3, object: 'Greeting long' }
    expect(review(text)).toEqual({
      checked: 1,
      skipped: 0,
      findings: [
        { ...common, line: 4, severity: 'warning', field: 'metadata.name', message: 'metadata.name: is long' },
        { ...common, line: 6, severity: 'error', field: 'spec.text', message: 'spec.text: say hello' },
      ],
    })
  })

  it('supports lists, as printed by kubectl get', () => {
    const item = '  - { apiVersion: example.com/v1, kind: Greeting, metadata: { name: a }, spec: { text: hm } }\n'
    const { checked, findings } = review(`apiVersion: v1\nkind: List\nitems:\n${item}${item}`)
    expect(checked).toBe(2)
    expect(lines(findings)).toEqual([4, 5])
  })

  it('skips other kinds', () => {
    const others = 'apiVersion: v1\nkind: Secret\n---\napiVersion: apps/v1\nkind: Deployment\n'
    expect(review(others)).toEqual({ checked: 0, skipped: 2, findings: [] })
  })

  it('does not let another version pass unchecked', () => {
    const { findings, ...counts } = review('kind: Greeting\napiVersion: example.com/v2\nmetadata: { name: a }\n')
    expect(counts).toEqual({ checked: 0, skipped: 0 })
    const message = 'unknown version "example.com/v2"; use example.com/v1'
    expect(findings).toEqual([
      { file: 'hello.yaml', line: 2, column: 1, object: 'Greeting a', severity: 'error', message },
    ])
  })

  it.each([
    ['group', 'exmaple.com/v1', 'Greeting', 'exmaple.com/v1 Greeting is not checked; example.com/v1 Greeting would be'],
    ['kind', 'example.com/v1', 'Greting', 'example.com/v1 Greting is not checked; example.com/v1 Greeting would be'],
  ])('warns about a misspelt %s, which may be meant', (_, apiVersion, kind, message) => {
    const { skipped, findings } = review(`apiVersion: ${apiVersion}\nkind: ${kind}\n`)
    expect([skipped, findings]).toEqual([1, [expect.objectContaining({ severity: 'warning', message })]])
  })

  it('validates objects with only apiVersion and kind', () => {
    const { checked, findings } = review('apiVersion: example.com/v1\nkind: Greeting\n')
    expect(checked).toBe(1)
    expect(findings).toMatchObject([{ object: 'Greeting (no name)', severity: 'error' }])
  })

  it('reports invalid YAML and documents that are not objects', () => {
    const { findings } = review('a: [\n---\ncolour: blue\n')
    expect(findings.map(({ severity }) => severity)).toEqual(['error', 'error'])
    expect(findings[1]?.message).toContain('is not a Kubernetes object')
  })

  it('reports metadata with wrong types', () => {
    const head = 'apiVersion: example.com/v1\nkind: Greeting\n'
    const { findings } = review(
      `${head}metadata: x\n---\n${head}metadata:\n  name: {toString: 1}\n  labels:\n    a: 1\n`,
    )
    expect(findings.map(({ line, object, message }) => [line, object, message])).toEqual([
      [3, undefined, 'metadata: must be an object, with the name of the object'],
      [8, 'Greeting (no name)', 'metadata.name: must be a string'],
      [10, 'Greeting (no name)', 'metadata.labels[a]: must be a string'],
    ])
  })
})

describe('a printed review', () => {
  const finding: Finding = {
    file: 'a.yaml',
    line: 3,
    column: 5,
    object: 'Greeting a',
    severity: 'error',
    message: 'no',
  }
  const print = (findings: readonly Finding[], output: 'text' | 'json' = 'text', hasColors = false) => {
    let text = ''
    const stdout = { hasColors, write: (more: string) => (text += more) }
    return { code: printReview({ checked: 1, skipped: 2, findings }, output, stdout), text }
  }

  it('has a line per finding, in a format that editors recognize, and a summary', () => {
    const { text } = print([finding, { ...finding, severity: 'warning', rule: 'politeness' }])
    expect(text.split('\n')).toEqual([
      'a.yaml:3:5: error: Greeting a: no',
      'a.yaml:3:5: warning: Greeting a: no [politeness]',
      '1 resource checked, 1 error, 1 warning, 2 objects of other kinds skipped',
      '',
    ])
  })

  it('is the review itself in JSON', () => {
    expect(JSON.parse(print([finding], 'json').text)).toEqual({ checked: 1, skipped: 2, findings: [finding] })
  })

  it('is coloured only if the output supports it', () => {
    expect(print([finding], 'text', true).text).toContain('\u001b[31merror\u001b[39m')
    expect(print([finding], 'text', false).text).not.toContain('\u001b')
  })

  it.each([
    ['error', 1],
    ['warning', 0],
    ['note', 0],
  ] as const)('with the highest severity %s has the exit code %i', (severity, code) => {
    expect(print([{ ...finding, severity }]).code).toBe(code)
  })
})
