/** Whether a Job has succeeded before all of its indexes have. */
import type { Job } from '../kinds/workloads.ts'
import { parseIndexes } from './accounting.ts'

/** Which rule of the success policy the completed indexes satisfy; `undefined` if none. */
export function satisfiedRule({ spec }: Job, completedIndexes: ReadonlySet<number>): number | undefined {
  const index = (spec.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    const listed = succeededIndexes === undefined ? undefined : parseIndexes(succeededIndexes)
    const done = [...completedIndexes].filter((index) => listed?.has(index) ?? true).length
    return done >= (succeededCount ?? listed?.size ?? Number.POSITIVE_INFINITY)
  })
  return index < 0 ? undefined : index
}
