/** What all parts of the simulator have in common. */
import type { ClusterController } from '../rest/cluster-api.ts'

/** A controller whose rest can be observed: tests wait for it instead of for time. */
export interface SimulatorController extends ClusterController {
  /** True when nothing is queued or under way. Waiting for time counts as idle. */
  readonly isIdle: boolean
}
