/** Where containers see what the init container wrote for them. Pure. */
import type { Container, VolumeMount } from '@reeve/kube'
import { hasMetadataEnrichment } from '../../api/dynakube/feature-facts.ts'
import { isMode, needsAppInjection } from '../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../api/latest.ts'
import { CONTAINER_CONFIG_PATH } from '../../injection-contract/paths.ts'
import { POD_SETTINGS } from './annotations.ts'
import type { InjectablePod } from './injection-input.ts'
import { mountsAt, withMounts } from './pod-edits.ts'

/** The volume that the init container writes configuration to. */
export const CONFIG_VOLUME = 'dynatrace-config'
const AGENT_PATHS = ['oneagent']
const ENRICHMENT_PATHS = ['enrichment/dt_metadata.json', 'enrichment/dt_metadata.properties', 'enrichment/endpoint']

/**
 * The mounts of a container: one for everything or, where another agent owns parts of the directory, one for each part.
 * The parts follow the DynaKube, not what the pod opts out of.
 */
function configMounts({ name }: Container, pod: InjectablePod, dynakube: DynaKube): readonly VolumeMount[] {
  const isSplit =
    pod.metadata.annotations?.[POD_SETTINGS.splitMounts]?.toLowerCase() === 'true' ||
    isMode(dynakube, 'classicFullStack')
  if (!isSplit) return [{ name: CONFIG_VOLUME, mountPath: CONTAINER_CONFIG_PATH, subPath: name }]
  return [
    ...(needsAppInjection(dynakube) ? AGENT_PATHS : []),
    ...(hasMetadataEnrichment(dynakube) ? ENRICHMENT_PATHS : []),
  ].map((path) => ({ name: CONFIG_VOLUME, mountPath: `${CONTAINER_CONFIG_PATH}/${path}`, subPath: `${name}/${path}` }))
}

/** Whether a container has any mounts at all these paths. */
export const hasConfigMounts = (container: Container, pod: InjectablePod, dynakube: DynaKube): boolean =>
  configMounts(container, pod, dynakube).every(({ mountPath }) => mountsAt(container, mountPath) !== undefined)

/** The container with the mounts. */
export const withConfigMounts = (container: Container, pod: InjectablePod, dynakube: DynaKube): Container =>
  withMounts(container, configMounts(container, pod, dynakube))
