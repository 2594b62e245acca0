/** All patterns, in the order of their numbers. */
import { crashAfterWrite, crashAroundOutsideCall } from './crashes.ts'
import { declaredStates } from './declared-states.ts'
import { leadershipLost, shutdownAnywhere } from './leadership.ts'
import type { Pattern } from './pattern.ts'
import { foreignWriters, monkey } from './people.ts'
import { quiescence } from './quiescence.ts'
import { failedRequests } from './refusals.ts'
import { deadConnection, ownWriteNotSeen, relistAnywhere, timeTravel, unseenStates } from './views.ts'

export const PATTERNS: readonly Pattern[] = [
  crashAfterWrite,
  crashAroundOutsideCall,
  timeTravel,
  ownWriteNotSeen,
  unseenStates,
  relistAnywhere,
  deadConnection,
  foreignWriters,
  failedRequests,
  leadershipLost,
  monkey,
  declaredStates,
  quiescence,
  shutdownAnywhere,
]
