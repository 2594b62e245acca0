import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WebApp } from './api/webapp.ts'
import { webapp } from './testing/webapp.ts'
import { validateWebApp } from './validate-webapp.ts'

const problemsOf = (object: WebApp) =>
  validateWebApp(object).problems.map(({ field, message }) => `${field}: ${message}`)

describe('validation of a WebApp', () => {
  it('accepts the smallest useful one without a remark', () => {
    expect(validateWebApp(webapp({ image: 'nginx:1.29' }))).toEqual({ problems: [], warnings: [] })
  })

  it('requires a tag or digest and suggests one', () => {
    expect(problemsOf(webapp({ image: 'team/shop' }))).toEqual([
      'spec.image: "team/shop" has neither tag nor digest: say which version to run, such as team/shop:1.0',
    ])
  })

  it('rejects an invalid image reference', () => {
    expect(problemsOf(webapp({ image: 'Not An Image' }))[0]).toMatch(
      /^spec\.image: "Not An Image" is not an image reference/,
    )
  })

  it('warns about latest, but not when a digest pins it', () => {
    expect(validateWebApp(webapp({ image: 'nginx:latest' })).warnings).toMatchObject([{ field: 'spec.image' }])
    expect(validateWebApp(webapp({ image: `nginx:latest@sha256:${'0'.repeat(64)}` })).warnings).toEqual([])
  })

  it.each([
    ['replicas', { replicas: -1 }, 'spec.replicas: must be at least 0, not -1'],
    ['too many replicas', { replicas: 1001 }, 'spec.replicas: must be at most 1000, not 1001'],
    ['a port', { port: 0 }, 'spec.port: must be at least 1, not 0'],
    [
      'a service port',
      { service: { type: 'ClusterIP', port: 70000 } },
      'spec.service.port: must be at most 65535, not 70000',
    ],
  ])('names %s out of range', (_, change, message) => {
    expect(problemsOf(webapp({ image: 'nginx:1', ...change } as never))).toEqual([message])
  })

  it('refuses a variable with two sources', () => {
    const env = [{ name: 'A', value: '1', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]
    expect(problemsOf(webapp({ env }))).toEqual(['spec.env[0]: has both value and valueFrom: keep one of them'])
  })

  it('refuses a name that no Service can have', () => {
    const app = webapp({})
    const named = (name: string) => ({ ...app, metadata: { ...app.metadata, name } })
    expect(problemsOf(named('1shop'))[0]).toMatch(/^metadata\.name: "1shop" cannot name a Service/)
    expect(problemsOf(named('a'.repeat(64)))).toHaveLength(1)
  })

  it('reports all problems together', () => {
    expect(
      problemsOf(webapp({ image: 'nginx', replicas: -1, port: 0 } as never)).map((line) => line.split(':')[0]),
    ).toEqual(['spec.replicas', 'spec.port', 'spec.image'])
  })

  it('never throws, whatever bypassed the webhook', () => {
    fc.assert(fc.property(fc.jsonValue(), (spec) => void validateWebApp({ ...webapp({}), spec } as never)))
  })
})
