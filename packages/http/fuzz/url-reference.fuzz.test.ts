/** Fuzzes addresses that users give: proxies, environments, and what must be kept secret in them. */
import { attempt, broken, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { HttpConfigError } from '../src/http-error.ts'
import { proxyPasswords } from '../src/outbound-client.ts'
import { configuredProxy } from '../src/proxy-choice.ts'
import { SecretFilter } from '../src/secret-filter.ts'
import { parseUrl } from '../src/url-reference.ts'

const scheme = fc.constantFrom('http://', 'https://', 'socks5://', '', '//', 'x:', 'HTTP://')
const user = fc.constantFrom('', 'user:pass@', 'user@', 'u:p%20w@', 'u:%zz@', 'u:%ff@', ':@', 'u:a@b@')
const host = fc.constantFrom('proxy', 'proxy:3128', '[::1]:80', 'a b', '10.0.0.1', ':80', 'x:99999', '%41')
const rest = fc.constantFrom('', '/', '/api', '?a=b', '#x', '/../..', '\\')

fuzz('url-reference', {
  inputs: fc.tuple(scheme, user, host, rest).map((parts) => parts.join('')),
  dictionary: ['://', '@', ':', '/', '%', '%41', '[', ']', '?', '#', 'http', ' '],
  run(input) {
    const url = textOf(input)
    parseUrl(url)
    const choose = attempt(() => configuredProxy({ url, noProxy: '.internal' }), HttpConfigError)
    if (choose?.value(new URL('https://a.internal/')) !== undefined) {
      throw broken('exceptions are contacted directly', url)
    }
    choose?.value(new URL('https://shop.example.com/'))
    const passwords = proxyPasswords({ proxy: { url }, env: {} })
    new SecretFilter(...passwords).clean(`cannot reach ${url}`)
  },
})
