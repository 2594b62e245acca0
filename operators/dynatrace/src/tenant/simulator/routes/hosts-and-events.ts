/** Hosts and events of the first API. */
import { json } from '../http/response.ts'
import type { Route } from '../http/router.ts'
import { violation } from '../refusal.ts'
import { tenantRoute } from './authenticate.ts'

const scopes = ['DataExport']

/** The list comes whole unless a page size is given; then a header names the next page. */
export const hostAndEventRoutes: readonly Route[] = [
  tenantRoute({
    operation: 'hosts',
    method: 'GET',
    path: '/v1/entity/infrastructure/hosts',
    scopes,
    handle({ hosts }, { query }) {
      const all = hosts.hosts().map(({ networkZoneId = 'default', displayName, ...host }) => {
        return { ...host, displayName: displayName ?? host.entityId, networkZoneId }
      })
      const pageSize = wholeNumber('pageSize', query.get('pageSize'), all.length)
      const start = wholeNumber('nextPageKey', query.get('nextPageKey'), 0)
      const end = start + pageSize
      const headers: Record<string, string> = end < all.length ? { 'next-page-key': String(end) } : {}
      return json(200, all.slice(start, end), headers)
    },
  }),
  tenantRoute({
    operation: 'events',
    method: 'POST',
    path: '/v1/events',
    scopes,
    async handle({ hosts }, call) {
      const { id } = hosts.take(await call.jsonObject())
      return json(200, { storedEventIds: [], storedIds: [id], storedCorrelationIds: [] })
    },
  }),
]

function wholeNumber(name: string, text: string | null, fallback: number): number {
  if (text === null) return fallback
  if (!/^\d{1,9}$/.test(text)) throw violation('QUERY', name, 'must be a whole number')
  return Number(text)
}
