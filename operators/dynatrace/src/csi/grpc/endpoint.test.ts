import { expect, it } from 'vitest'
import { socketPath } from './endpoint.ts'

it.each(['unix:/csi/csi.sock', 'unix:///csi/csi.sock'])('%s is the socket /csi/csi.sock', (endpoint) => {
  expect(socketPath(endpoint)).toBe('/csi/csi.sock')
})

it.each(['', '/csi/csi.sock', 'tcp://localhost:1', 'unix:'])('%j is not a socket', (endpoint) => {
  expect(() => socketPath(endpoint)).toThrow('--endpoint')
})
