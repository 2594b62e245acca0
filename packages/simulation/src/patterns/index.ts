/** All patterns, in the order of their numbers. */
import { crashAfterWrite, crashAroundCall, crashAtEvent } from './crashes.ts'
import { deadConnection } from './dead-connection.ts'
import { declaredStates } from './declared-states.ts'
import { deletedMidway } from './deleted-midway.ts'
import { relist, unseenStates } from './event-gaps.ts'
import { failedRequest } from './failed-requests.ts'
import { foreignWrites } from './foreign-writes.ts'
import { lateOwnWrite } from './late-own-write.ts'
import { lostLeadership } from './lost-leadership.ts'
import { manualChanges } from './manual-changes.ts'
import { nameTaken } from './name-taken.ts'
import type { Pattern } from './pattern.ts'
import { quiescence } from './quiescence.ts'
import { shutdown } from './shutdown.ts'
import { staleView } from './stale-view.ts'
import { twoFaults } from './two-faults.ts'
import { undisturbed } from './undisturbed.ts'

export const PATTERNS: readonly Pattern[] = [
  undisturbed,
  crashAfterWrite,
  crashAroundCall,
  staleView,
  lateOwnWrite,
  unseenStates,
  relist,
  deadConnection,
  foreignWrites,
  failedRequest,
  lostLeadership,
  manualChanges,
  declaredStates,
  quiescence,
  shutdown,
  nameTaken,
  twoFaults,
  crashAtEvent,
  deletedMidway,
]
