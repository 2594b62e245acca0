import { describe, expect, it } from 'vitest'
import { bindAddress, everyHost, portOf } from './bind-address.ts'

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
