import type { KubeObject } from '@reeve/kube'
import { expect, test } from 'vitest'
import { fieldMatcher, labelMatcher } from './selector.ts'

const labelled = (labels?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', ...(labels && { labels }) },
})

test.each([
  ['', {}, true],
  ['app=web', { app: 'web' }, true],
  ['app==web', { app: 'web' }, true],
  ['app=web', { app: 'db' }, false],
  ['app=web', undefined, false],
  ['app!=web', { app: 'db' }, true],
  ['app!=web', undefined, true],
  ['app', { app: '' }, true],
  ['app', undefined, false],
  ['!app', undefined, true],
  ['!app', { app: 'web' }, false],
  ['env in (dev, test)', { env: 'test' }, true],
  ['env in (dev,test)', { env: 'prod' }, false],
  ['env in (dev)', undefined, false],
  ['env notin (dev,test)', { env: 'prod' }, true],
  ['env notin (dev,test)', undefined, true],
  ['env notin (dev,test)', { env: 'dev' }, false],
  ['app=web,env in (dev,test),!legacy', { app: 'web', env: 'dev' }, true],
  ['app=web,env in (dev,test),!legacy', { app: 'web', env: 'dev', legacy: '1' }, false],
  ['app.kubernetes.io/name = web', { 'app.kubernetes.io/name': 'web' }, true],
  ['constructor', undefined, false],
])('label selector "%s" on %j gives %s', (selector, labels, expected) => {
  expect(labelMatcher(selector)(labelled(labels))).toBe(expected)
})

test('a selector with very many spaces after a key is compiled in linear time', () => {
  const selector = `app${'\n '.repeat(200_000)}?`
  expect(labelMatcher(selector)(labelled({ app: 'web' }))).toBe(false)
  expect(fieldMatcher(selector)(labelled())).toBe(false)
})

test('a label selector with very many requirements is compiled in one pass', () => {
  const selector = `app=web,${'x in (a, b'.repeat(20_000)}${',!y'.repeat(100_000)}`
  expect(labelMatcher(selector)(labelled({ app: 'db' }))).toBe(false)
})

test.each([
  ['', true],
  ['metadata.name=web', true],
  ['metadata.name=db', false],
  ['metadata.name!=db,metadata.namespace=shop', true],
  ['metadata.name!=web', false],
  ['spec.nodeName=', true],
  ['spec.nodeName!=', false],
  ['spec.nodeName=node-1', false],
])('field selector "%s" gives %s', (selector, expected) => {
  expect(fieldMatcher(selector)(labelled())).toBe(expected)
})

test('field selectors read booleans and numbers as text and unescape values', () => {
  const object = { ...labelled(), spec: { unschedulable: true, count: 3, note: 'a,b=c' } }
  expect(fieldMatcher('spec.unschedulable=true')(object)).toBe(true)
  expect(fieldMatcher('spec.count=3')(object)).toBe(true)
  expect(fieldMatcher('spec.note=a\\,b\\=c')(object)).toBe(true)
})
