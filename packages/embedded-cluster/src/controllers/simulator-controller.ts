/** The interface of all controllers of the simulator. */
import type { ClusterController } from '../api/cluster-api.ts'

/** A controller with observable idleness: tests wait for it instead of for time. */
export interface SimulatorController extends ClusterController {
  /** True when nothing is queued or in progress. Waiting for a timer counts as idle. */
  readonly isIdle: boolean
}
