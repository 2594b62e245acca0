import { describe, expect, it } from 'vitest'
import { configuredProxy, environmentProxy, isProxyAddress } from './proxy-choice.ts'

const target = new URL('https://tenant.example.com/api')

describe('configuredProxy', () => {
  it.each([
    ['http://proxy:3128', 'http://proxy:3128'],
    ['https://proxy', 'https://proxy'],
    ['proxy:3128', 'http://proxy:3128'],
    ['user:pw@proxy:3128', 'http://user:pw@proxy:3128'],
    ['proxy.example', 'http://proxy.example'],
  ])('reads %s as %s', (url, expected) => {
    expect(configuredProxy({ url })(target)).toBe(expected)
    expect(isProxyAddress(url)).toBe(true)
  })

  it.each([
    ...['10.0.0.1:3128', 'my_proxy:3128', 'http://[', 'http://a b', '', ' ', 'http://', 'http://proxy:3128\n'],
    ...['ftp://proxy:3128', 'http://user:50%@proxy', 'http://user:%ff@proxy', 'http://:3128', 'http://proxy:99999'],
  ])('refuses %j instead of going without a proxy', (url) => {
    expect(() => configuredProxy({ url })).toThrow(
      expect.objectContaining({ code: 'HTTP_CONFIG', message: expect.stringContaining('cannot be used; write it as') }),
    )
    expect(isProxyAddress(url)).toBe(false)
  })

  it('serves http and https targets alike, and never loopback ones', () => {
    const choose = configuredProxy({ url: 'proxy:3128' })
    expect(choose(new URL('http://tenant.example.com'))).toBe('http://proxy:3128')
    expect(choose(new URL('https://localhost:9999'))).toBeUndefined()
    expect(choose(new URL('https://127.0.0.1:9999'))).toBeUndefined()
  })

  it('contacts the hosts of the no-proxy list directly', () => {
    const choose = configuredProxy({ url: 'proxy:3128', noProxy: 'other.example, .example.com,10.0.0.0/8' })
    expect(choose(target)).toBeUndefined()
    expect(choose(new URL('https://10.1.2.3'))).toBeUndefined()
    expect(choose(new URL('https://elsewhere.example'))).toBe('http://proxy:3128')
  })
})

it('the proxy of the process is taken from its variables', () => {
  const choose = environmentProxy({ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'direct.example' })
  expect(choose(target)).toBe('http://proxy:1')
  expect(choose(new URL('https://direct.example'))).toBeUndefined()
})
