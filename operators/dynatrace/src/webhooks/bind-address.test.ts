import { describe, expect, it } from 'vitest'
import { bindAddress, everyHost, metricsAddress, portOf } from './bind-address.ts'

describe('bindAddress', () => {
  it.each([
    [':9383', { host: everyHost(), port: 9383 }],
    ['127.0.0.1:9383', { host: '127.0.0.1', port: 9383 }],
    ['[::1]:9383', { host: '::1', port: 9383 }],
    [undefined, { host: everyHost(), port: 8383 }],
    ['nonsense', { host: everyHost(), port: 8383 }],
    [':99999', { host: everyHost(), port: 8383 }],
  ])('reads %s', (text, address) => {
    expect(bindAddress(text, 8383)).toEqual(address)
  })
})

describe('portOf', () => {
  it.each([
    ['9443', 9443],
    ['0', 0],
    [undefined, 8443],
    ['', 8443],
    ['https', 8443],
    ['-1', 8443],
    ['65536', 8443],
  ])('reads %s', (text, port) => {
    expect(portOf(text, 8443)).toBe(port)
  })
})

describe('metricsAddress', () => {
  it.each([
    [{}, { host: '127.0.0.1', port: 1 }],
    [{ METRICS_PROTECTED: 'false' }, { host: '127.0.0.1', port: 1 }],
    [{ METRICS_PROTECTED: 'true' }, { host: '127.0.0.1', port: 1, isProtected: true }],
  ])('is protected when the environment says so: %j', (env, address) => {
    expect(metricsAddress('127.0.0.1:1', 8383, env)).toEqual(address)
  })
})
