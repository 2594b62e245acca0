/** Fuzzes addresses that users give: proxies, environments, and what must be kept secret in them. */
import { attempt, broken, type FuzzTarget, isA, textOf } from '@reeve/fuzz'
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

export const target: FuzzTarget = {
  description: 'addresses of proxies and servers that users give, and the passwords in them',
  inputs: fc.tuple(scheme, user, host, rest).map((parts) => parts.join('')),
  dictionary: ['://', '@', ':', '/', '%', '%41', '[', ']', '?', '#', 'http', ' '],
  run(input) {
    const url = textOf(input)
    const parsed = parseUrl(url)
    const choose = attempt(() => configuredProxy({ url, noProxy: '.internal' }), isA(HttpConfigError))
    if ('value' in choose && choose.value(new URL('https://a.internal/')) !== undefined) {
      throw broken('exceptions are contacted directly', url)
    }
    const proxy = 'value' in choose ? choose.value(new URL('https://shop.example.com/')) : choose.refusal
    const passwords = proxyPasswords({ proxy: { url }, env: {} })
    const hidden = new SecretFilter(...passwords).clean(`cannot reach ${url}`)
    return `${parsed !== undefined} ${proxy !== undefined} ${passwords.length} ${hidden.length === url.length}`
  },
}
