/**
 * The behaviour of containers of a simulated pod. Both clusters simulate nodes and read their own annotations, so a pod
 * has both.
 */
import type { Json } from './conformance-api.ts'

/** Annotations of a pod that runs but never becomes ready. */
export const NEVER_READY: Json = { 'simulation.reeve.dev/ready': 'false', 'simulator.reeve.dev/fail': 'NotReady' }

/** Annotations of a pod whose image cannot be pulled. */
export const NO_IMAGE: Json = {
  'simulation.reeve.dev/waiting-reason': 'ImagePullBackOff',
  'simulator.reeve.dev/fail': 'ImagePullBackOff',
}

/** Annotations of a pod whose containers exit with this code. */
export function exitsWith(code: number): Json {
  return { 'simulation.reeve.dev/exit-code': `${code}`, 'simulator.reeve.dev/exit-code': `${code}` }
}

/** The containers exit after this time. */
export const runsFor = (time: string) => ({ 'simulator.reeve.dev/run-for': time })
