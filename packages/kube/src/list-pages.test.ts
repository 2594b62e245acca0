/** Pagination returns one consistent list. */

import { SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { Pods } from './builtin-resources.ts'
import { createClient } from './create-client.ts'
import { isDeadlineExceeded, isExpired } from './error-predicates.ts'
import { json, ScriptedTransport } from './testing/scripted-transport.ts'

const page = (names: readonly string[], next?: string) =>
  json(200, {
    apiVersion: 'v1',
    kind: 'PodList',
    metadata: { resourceVersion: '40', ...(next && { continue: next, remainingItemCount: 1 }) },
    items: names.map((name) => ({ metadata: { name } })),
  })
const expired = json(410, { apiVersion: 'v1', kind: 'Status', reason: 'Expired', code: 410 })

describe('listAll', () => {
  it('follows the pages and removes their metadata', async () => {
    const transport = new ScriptedTransport(page(['a', 'b'], 'next 1'), page(['c'], 'next 2'), page(['d']))
    const list = await createClient({ transport }).listAll(Pods, {
      limit: 2,
      resourceVersion: '40',
      resourceVersionMatch: 'Exact',
    })
    expect(list.items.map((item) => item.metadata.name)).toEqual(['a', 'b', 'c', 'd'])
    expect(list.metadata).toEqual({ resourceVersion: '40' })
    expect(transport.requests.map((request) => request.path)).toEqual([
      '/api/v1/pods?limit=2&resourceVersion=40&resourceVersionMatch=Exact',
      '/api/v1/pods?limit=2&continue=next%201',
      '/api/v1/pods?limit=2&continue=next%202',
    ])
  })

  it('starts again, unpaged, when the snapshot expires half-way', async () => {
    const transport = new ScriptedTransport(page(['a'], 'next'), expired, page(['a', 'b', 'c']))
    const list = await createClient({ transport }).listAll(Pods, { limit: 1 })
    expect(list.items.map((item) => item.metadata.name)).toEqual(['a', 'b', 'c'])
    expect(transport.requests.at(-1)?.path).toBe('/api/v1/pods')
  })

  it('reports the expiry of an unpaged list', async () => {
    const transport = new ScriptedTransport(expired)
    const error = await createClient({ transport })
      .listAll(Pods)
      .catch((reason: unknown) => reason)
    expect(isExpired(error)).toBe(true)
    expect(transport.requests).toHaveLength(2)
  })

  it('limits all pages together when a deadline is given', async () => {
    const clock = new SimulatedClock()
    const slow = async () => {
      await clock.advance(400)
      return page(['a'], 'more')
    }
    const listing = createClient({ transport: new ScriptedTransport(slow), clock }).listAll(Pods, { timeoutMs: 1_000 })
    expect(isDeadlineExceeded(await listing.catch((reason: unknown) => reason))).toBe(true)
  })
})
