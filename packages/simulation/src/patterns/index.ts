/** All patterns, in the order of their numbers. */
import { crashAfterWrite, crashAroundOutsideCall } from './crashes.ts'
import { declaredStates } from './declared-states.ts'
import { foreignWriters } from './foreign-writers.ts'
import { leadershipLost } from './leadership.ts'
import { monkey } from './monkey.ts'
import type { Pattern } from './pattern.ts'
import { quiescence } from './quiescence.ts'
import { failedRequests } from './refusals.ts'
import { shutdownAnywhere } from './shutdown.ts'
import { deadConnection } from './silence.ts'
import { ownWriteNotSeen, relistAnywhere, timeTravel, unseenStates } from './views.ts'

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
