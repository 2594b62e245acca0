import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import { ServiceAddresses } from './service-addresses.ts'

const service = (uid: string, clusterIP: string, nodePort?: number): JsonObject => ({
  metadata: { uid },
  spec: { clusterIP, ports: [{ port: 80, ...(nodePort === undefined ? {} : { nodePort }) }] },
})

describe('addresses and node ports', () => {
  it('are allocated to one Service at a time', () => {
    const addresses = new ServiceAddresses(() => 0)
    expect(addresses.allocateAddress('a')).toBe('10.96.1.1')
    expect(addresses.allocateAddress('b')).toBe('10.96.1.2')
    expect(addresses.takeAddress('10.96.1.1', 'b')).toBe('provided IP is already allocated')
    expect(addresses.takeAddress('10.96.1.1', 'a')).toBeUndefined()
    expect(addresses.allocatePort('a')).toBe(30_000)
    expect(addresses.takePort(30_000, 'b')).toBe('provided port is already allocated')
  })

  it('are only allocated from their ranges', () => {
    const addresses = new ServiceAddresses(() => 0.5)
    expect(addresses.takeAddress('192.168.0.1', 'a')).toContain('is not in the valid range')
    expect(addresses.takePort(80, 'a')).toContain('The range of valid ports is 30000-32767')
  })

  it('stay allocated while a state of their Service uses them, and are released with the Service', () => {
    const addresses = new ServiceAddresses(() => 0)
    addresses.takeAddress('10.96.0.10', 'a')
    addresses.takePort(30_001, 'a')
    addresses.takePort(30_002, 'a')
    addresses.retain('a', [service('a', '10.96.0.10', 30_001)])
    expect(addresses.takePort(30_002, 'b')).toBeUndefined()
    expect(addresses.takePort(30_001, 'b')).toBeDefined()
    addresses.releaseAll('a')
    expect(addresses.takeAddress('10.96.0.10', 'b')).toBeUndefined()
  })

  it('of another Service are not released by one that failed to allocate them', () => {
    const addresses = new ServiceAddresses(() => 0)
    addresses.adopt(service('stored', '10.96.0.10', 30_001))
    expect(addresses.takeAddress('10.96.0.10', 'refused')).toBeDefined()
    addresses.releaseAll('refused')
    expect(addresses.takeAddress('10.96.0.10', 'third')).toBeDefined()
  })

  it('can be exhausted', () => {
    const addresses = new ServiceAddresses(Math.random)
    for (let count = 0; count < 2768; count += 1) expect(addresses.allocatePort('a')).toBeDefined()
    expect(addresses.allocatePort('a')).toBeUndefined()
    addresses.releaseAll('a')
    expect(addresses.allocatePort('a')).toBeDefined()
  })

  it('never belong to two Services, whatever the order of allocations and releases', () => {
    const owner = fc.constantFrom('a', 'b', 'c')
    const step = fc.oneof(
      fc.record({ owner, port: fc.integer({ min: 30_000, max: 30_004 }) }),
      fc.record({ owner, port: fc.constant(undefined) }),
    )
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const addresses = new ServiceAddresses(() => 0)
        const held = new Map<number, string>()
        for (const { owner: who, port } of steps) {
          if (port === undefined) {
            addresses.releaseAll(who)
            for (const [number, holder] of held) if (holder === who) held.delete(number)
            continue
          }
          const isFree = (held.get(port) ?? who) === who
          expect(addresses.takePort(port, who) === undefined).toBe(isFree)
          if (isFree) held.set(port, who)
        }
      }),
    )
  })
})
