import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseUrl } from './url-reference.ts'

describe('a URL', () => {
  it('is split without normalization', () => {
    expect(parseUrl('HTTPS://me:pa%20ss@Host.example:443/e/<t>/api?q#f')).toEqual({
      scheme: 'https',
      userInfo: 'me:pa%20ss',
      host: 'Host.example:443',
      hostname: 'Host.example',
      path: '/e/<t>/api',
    })
    expect(parseUrl('http://a@b@[::1]:8080')).toMatchObject({ userInfo: 'a@b', host: '[::1]:8080', hostname: '::1' })
  })

  it.each([
    '',
    'proxy-value',
    'proxy:3128',
    '/api',
    'https://...tenant/api',
    'http://h:',
    'tenant.example/api',
    '?%zz',
  ])('may be %s', (text) => {
    expect(parseUrl(text)).toBeDefined()
  })

  it.each([
    ':x',
    '10.0.0.1:3128',
    'http://h:port',
    'http://u:p w@h',
    'http://u:p"@h',
    'http://a b/api',
    'http://h/%zz',
    'http://%41/',
    'http://[::1',
    'a\u0007b',
    'http://u:é@h',
  ])('is not %s', (text) => {
    expect(parseUrl(text)).toBeUndefined()
  })

  it('is never a reason to throw', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseUrl(text)))
  })
})
