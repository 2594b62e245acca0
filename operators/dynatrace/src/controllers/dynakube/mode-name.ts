/** The name of the mode in which agents run on nodes. */
import { isMode } from '../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../api/latest.ts'

/** The mode as labels and metadata name it. */
export function modeNameOf(dynakube: DynaKube): 'classic_fullstack' | 'cloud_native_fullstack' | 'host_monitoring' {
  if (isMode(dynakube, 'classicFullStack')) return 'classic_fullstack'
  return isMode(dynakube, 'hostMonitoring') ? 'host_monitoring' : 'cloud_native_fullstack'
}
