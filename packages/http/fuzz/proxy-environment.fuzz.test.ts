/** Fuzzes the choice of a proxy by environment variables. */
import { attempt, broken, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { HttpConfigError } from '../src/http-error.ts'
import { proxyFromEnvironment } from '../src/proxy.ts'

const servers = ['https://10.1.2.3', 'http://shop.example.com:8080', 'https://[2001:db8::1]', 'https://localhost'].map(
  (address) => new URL(address),
)
const rule = fc.constantFrom(
  '*',
  '10.0.0.0/8',
  '.example.com',
  '*.example.com',
  'example.com:8080',
  '[::1]:443',
  '2001:db8::/32',
  '10.1.2.3',
  '/',
  '10.0.0.0/99',
  ' ',
)

fuzz('proxy-environment', {
  inputs: fc
    .tuple(fc.constantFrom('http://proxy:3128', 'proxy', 'socks5://u:p@h', ':', ''), fc.array(rule, { maxLength: 5 }))
    .map(([proxy, rules]) => `${proxy}\n${rules.join(',')}`),
  dictionary: ['*', '.', ',', '/', ':', '[', ']', '/8', '::', '10.', '://'],
  run(input) {
    const [proxy = '', ...rest] = textOf(input).split('\n')
    const noProxy = rest.join('\n')
    const choose = (exceptions: string) =>
      servers.map((server) => {
        const env = { HTTPS_PROXY: proxy, http_proxy: proxy, NO_PROXY: exceptions }
        return attempt(() => proxyFromEnvironment(server, env), HttpConfigError)
      })
    const [, , , loopback] = choose(noProxy)
    if (loopback === undefined || loopback.value !== undefined) {
      throw broken('loopback is never proxied', proxy, noProxy)
    }
    if (choose(`${noProxy},*`).some((one) => one === undefined || one.value !== undefined)) {
      throw broken('an asterisk excepts everything', proxy, noProxy)
    }
  },
})
