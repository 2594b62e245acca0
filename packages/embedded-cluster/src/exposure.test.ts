import { expect, test } from 'vitest'
import { exposureWarnings, isLoopback, urlHost } from './exposure.ts'

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.5', false],
  ['fd00::1', false],
])('whether only this machine reaches %s is %s', (address, expected) => {
  expect(isLoopback(address)).toBe(expected)
})

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', 'localhost'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['::1', '[::1]'],
  ['fd00::1', '[fd00::1]'],
])('clients of a cluster that listens on %s connect to %s', (host, expected) => {
  expect(urlHost(host)).toBe(expected)
})

test('a cluster for this machine only causes no warning, unless it needs no credentials', () => {
  const here = { address: '127.0.0.1', port: 6443 }
  expect(exposureWarnings(here, {})).toEqual([])
  expect(exposureWarnings(here, { anonymousAuth: true })).toEqual([])
  expect(exposureWarnings(here, { authorization: 'AlwaysAllow' })).toEqual([])
  expect(exposureWarnings(here, { authorization: 'AlwaysAllow', anonymousAuth: true })).toEqual([
    expect.stringContaining('everyone who can connect to 127.0.0.1:6443 may do everything, without credentials'),
  ])
})

test('a cluster that other machines can reach is worth a warning that names the address', () => {
  expect(exposureWarnings({ address: '::', port: 6443 }, {})).toEqual([
    expect.stringContaining('listens on [::]:6443, which other machines can reach'),
  ])
})
