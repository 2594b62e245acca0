import { expect, it } from 'vitest'
import type { SchedulerStep } from '../world/run-log.ts'
import { distinctSteps } from './shutdown.ts'

const work = (index: number): SchedulerStep => ({ kind: 'request', index, isHeartbeat: false })
const beat = (kind: SchedulerStep['kind'], index: number): SchedulerStep => ({ kind, index, isHeartbeat: true })

it('the pattern of shutdowns keeps all work, and of a heartbeat between two pieces of work the first of each kind', () => {
  const steps = [
    beat('timer', 0),
    beat('request', 0),
    beat('timer', 1),
    beat('request', 1),
    work(2),
    work(3),
    beat('timer', 2),
    beat('timer', 3),
  ]
  expect(distinctSteps(steps)).toEqual([beat('timer', 0), beat('request', 0), work(2), work(3), beat('timer', 2)])
})
