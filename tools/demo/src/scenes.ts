/** The scenes of the demo, in the order in which they are shown. */
import { collectorScene } from './collector-scene.ts'
import { dynatraceScene } from './dynatrace-scene.ts'
import type { Scene } from './scene.ts'
import { webAppScene } from './webapp-scene.ts'

/** One line each. */
export const SCENES: readonly Scene[] = [webAppScene, collectorScene, dynatraceScene]
