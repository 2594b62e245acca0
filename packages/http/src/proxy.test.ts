/** Proxies by environment variables. */
import { describe, expect, it } from 'vitest'
import { isProxyUrl, proxyFromEnvironment } from './proxy.ts'

const proxy = 'http://proxy:3128'
const via = (server: string, noProxy = '', more: Record<string, string> = {}) =>
  proxyFromEnvironment(new URL(server), { HTTPS_PROXY: proxy, NO_PROXY: noProxy, ...more })

describe('proxyFromEnvironment', () => {
  it('chooses the proxy by the scheme of the server', () => {
    expect(via('https://api.example.com')).toBe(proxy)
    expect(via('http://api.example.com')).toBeUndefined()
    expect(via('http://api.example.com', '', { http_proxy: 'plain:80' })).toBe('http://plain:80')
  })

  it.each(['https://localhost:6443', 'https://127.0.0.1:6443', 'https://127.1.2.3', 'https://[::1]:6443'])(
    'never proxies %s',
    (server) => expect(via(server)).toBeUndefined(),
  )

  it.each([
    ['https://api.example.com', '*'],
    ['https://api.example.com', 'other,example.com'],
    ['https://example.com', 'example.com'],
    ['https://api.example.com', '.example.com'],
    ['https://api.example.com', '*.example.com'],
    ['https://API.Example.com', 'EXAMPLE.COM'],
    ['https://api.example.com:6443', 'example.com:6443'],
    ['https://10.96.0.1', '10.96.0.0/12'],
    ['https://10.96.0.1', '10.96.0.1'],
    ['https://[fd00::1]', 'fd00::/8'],
  ])('connects directly to %s with NO_PROXY=%s', (server, noProxy) => {
    expect(via(server, noProxy)).toBeUndefined()
  })

  it.each([
    ['https://example.com', '.example.com'],
    ['https://notexample.com', 'example.com'],
    ['https://api.example.com', 'example.com:6443'],
    ['https://10.200.0.1', '10.96.0.0/12'],
    ['https://10.96.0.1', '10.96.0.0/99'],
    ['https://10.96.0.1', 'nonsense/12,,'],
  ])('uses the proxy for %s with NO_PROXY=%s', (server, noProxy) => {
    expect(via(server, noProxy)).toBe(proxy)
  })
})

describe('an invalid proxy', () => {
  it.each([
    'http://user:hunter2@',
    'http://user:50%@proxy',
    'ftp://user:hunter2@proxy',
    '::user:hunter2@',
    'http://a b',
  ])('is an error that names the variable and not the value: %s', (value) => {
    const choose = () => via('https://api.example.com', '', { HTTPS_PROXY: value })
    expect(choose).toThrow(expect.objectContaining({ code: 'HTTP_CONFIG' }))
    expect(choose).toThrow(/^HTTPS_PROXY is not a valid proxy URL; write it as http:\/\/user:password@host:port$/)
  })

  it('does not matter for servers that are reached directly', () => {
    expect(via('https://api.example.com', '.example.com', { HTTPS_PROXY: 'http://' })).toBeUndefined()
  })

  it('is distinguished from a valid one', () => {
    const urls = ['http://proxy:3128', 'https://u:p%25@proxy', 'socks5://proxy:1080', 'http://[::1]:1']
    expect(urls.filter(isProxyUrl)).toEqual(urls)
  })
})
