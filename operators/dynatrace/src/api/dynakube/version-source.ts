/** Where the version of a component comes from. */
import { featureFlags } from '../feature-flags.ts'
import type { DynaKube } from '../latest.ts'
import { customCodeModulesImage } from './feature-facts.ts'
import { customOneAgentImage, customVersion, isMode } from './one-agent-facts.ts'

/** As it stands in `status`. */
export type VersionSource = 'custom-image' | 'public-registry' | 'custom-version' | 'tenant-registry'

/** Components with a version. */
export type VersionedComponent = 'oneAgent' | 'activeGate' | 'codeModules'

/** What `version` in a status says when only the image knows. */
export const CUSTOM_IMAGE_VERSION = 'custom-image'

/** What decides, for one component. */
interface Pinned {
  readonly image: string
  readonly version: string
  /** The public registry has no images for classicFullStack. */
  readonly canBePublic: boolean
}

/** Where the version of a component comes from: the most particular wish wins. */
export function versionSource(dynakube: DynaKube, component: VersionedComponent, hasCsiDriver: boolean): VersionSource {
  const { image, version, canBePublic } = pinned(dynakube, component, hasCsiDriver)
  if (image !== '') return 'custom-image'
  if (canBePublic && featureFlags(dynakube).publicRegistry) return 'public-registry'
  return version === '' ? 'tenant-registry' : 'custom-version'
}

function pinned(dynakube: DynaKube, component: VersionedComponent, hasCsiDriver: boolean): Pinned {
  const canBePublic = !isMode(dynakube, 'classicFullStack')
  switch (component) {
    case 'oneAgent':
      return { image: customOneAgentImage(dynakube), version: customVersion(dynakube), canBePublic }
    case 'activeGate':
      return { image: dynakube.spec.activeGate?.image ?? '', version: '', canBePublic }
    case 'codeModules':
      return {
        image: customCodeModulesImage(dynakube, hasCsiDriver),
        version: customVersion(dynakube),
        canBePublic: true,
      }
  }
}
