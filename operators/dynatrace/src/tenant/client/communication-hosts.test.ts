import { expect, it } from 'vitest'
import { communicationHosts } from './communication-hosts.ts'

it('the one valid communication host is found among invalid endpoints', () => {
  const endpoints = [
    'https://tenant.example.com:443/communication',
    'https://tenant.example.com:notaport/communication',
    'tenant.example.com/communication',
    'ftp://tenant.example.com/communication',
    'unix:///run/socket',
    '\u0000garbage',
  ]
  expect(communicationHosts(endpoints)).toEqual([{ protocol: 'https', host: 'tenant.example.com', port: 443 }])
})

it('every communication host is named once, with the default port of its protocol', () => {
  const endpoints = ['http://a.example', 'https://a.example/x', 'https://a.example:443/y', 'http://[fe80::1]:8080']
  expect(communicationHosts(endpoints)).toEqual([
    { protocol: 'http', host: 'a.example', port: 80 },
    { protocol: 'https', host: 'a.example', port: 443 },
    { protocol: 'http', host: 'fe80::1', port: 8080 },
  ])
})
