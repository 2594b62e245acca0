/** Waits until controllers have finished, and reads their status. */
import type { ConformanceApi, Json } from './conformance-api.ts'
import { until } from './until.ts'

/** The items of a collection with this value of the label `app`. */
export async function labelled(api: ConformanceApi, collection: string, app: string): Promise<Json[]> {
  return (await api.get(`${collection}?labelSelector=app%3D${app}`)).body.items
}

/** Waits until the object at `path` satisfies `check`, and returns it. */
export function settled(
  api: ConformanceApi,
  what: string,
  path: string,
  check: (object: Json) => boolean,
): Promise<Json> {
  return until(what, async () => {
    const { body } = await api.get(path)
    return check(body) ? body : undefined
  })
}

/** `Available True MinimumReplicasAvailable`, one line per condition. */
export function conditionsOf({ status }: Json): string[] {
  return (status.conditions ?? [])
    .map((condition: Json) => `${condition.type} ${condition.status} ${condition.reason}`)
    .sort()
}
