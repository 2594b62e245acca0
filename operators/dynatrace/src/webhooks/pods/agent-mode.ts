/** How code modules get into a pod. Pure. */
import { initResources } from '../../api/dynakube/one-agent-facts.ts'
import { featureFlags } from '../../api/feature-flags.ts'
import type { DynaKube } from '../../api/latest.ts'
import { resourcesFrom } from '../../controllers/rendering/user-settings.ts'
import { POD_SETTINGS } from './annotations.ts'
import type { InjectablePod, InjectionInput } from './injection-input.ts'

/**
 * `csi`: the CSI driver mounts them. `download`: the init container downloads them. `image`: the init container is the
 * image that contains them and copies itself.
 */
export type AgentMode = 'csi' | 'download' | 'image'

/** The mode for a pod. Pods may choose only where nodes pull the image. */
export function agentMode({ pod, dynakube, settings: { hasCsiDriver } }: InjectionInput): AgentMode {
  if (!featureFlags(dynakube).nodeImagePull) return hasCsiDriver ? 'csi' : 'download'
  const chosen = pod.metadata.annotations?.[POD_SETTINGS.volumeType] || (hasCsiDriver ? 'csi' : 'ephemeral')
  return chosen === 'csi' ? 'csi' : 'image'
}

/** Enough for writing configuration files; downloading takes more. */
const CONFIGURING = { requests: { cpu: '30m', memory: '30Mi' }, limits: { cpu: '100m', memory: '60Mi' } }

/** Resources of the init container. */
export function initContainerResources(pod: InjectablePod, dynakube: DynaKube, mode: AgentMode | undefined) {
  // Requests beyond those of the whole pod would make the API server reject it.
  if ((pod.spec as { readonly resources?: object }).resources !== undefined) return {}
  if (mode === undefined) return CONFIGURING
  return resourcesFrom(initResources(dynakube)) ?? (mode === 'csi' ? CONFIGURING : {})
}
