/** Decides which agent a DynaKube needs on this node, where it comes from and where it is installed. */
import { createHash } from 'node:crypto'
import { areCodeModulesKnown, customCodeModulesImage } from '../../api/dynakube/feature-facts.ts'
import { featureFlags } from '../../api/feature-flags.ts'
import type { DynaKube } from '../../api/latest.ts'
import { isFileName } from '../file-name.ts'
import { ProvisionError } from './provision-error.ts'

/** An agent to install. */
export type CodeModule = {
  /** Its name below `codemodules`. */
  readonly folder: string
} & (
  | { readonly method: 'zip'; readonly version: string }
  | { readonly method: 'image'; readonly image: string }
  | { readonly method: 'job'; readonly image: string }
)

/** Where images of code modules are published. */
const PUBLIC_IMAGE = 'public.ecr.aws/dynatrace/dynatrace-codemodules'

/** Colons and commas separate the options of an overlay; versions have neither. */
const VERSION = /^[A-Za-z0-9][A-Za-z0-9._+-]*$/

/**
 * The agent of a DynaKube; `undefined` while the operator has not decided on one.
 *
 * @param hasCsiDriver whether images count for applicationMonitoring
 *
 * *Errors*: {@link ProvisionError} for a version that is not safe as a name of a directory.
 *
 * @example
 * codeModuleOf(dynakube, true) // { method: 'zip', version: '1.318.0.20250609-191530', folder: '1.318.0.20250609-191530' }
 */
export function codeModuleOf(dynakube: DynaKube, hasCsiDriver: boolean): CodeModule | undefined {
  if (!areCodeModulesKnown(dynakube, hasCsiDriver)) return undefined
  const { imageID = '', version = '' } = dynakube.status?.codeModules ?? {}
  const ownImage = customCodeModulesImage(dynakube, hasCsiDriver)
  const folder = ownImage === '' ? versionFolder(version) : imageFolder(imageID)
  if (featureFlags(dynakube).nodeImagePull) {
    // Not the image of the spec: until the status follows a change, its agent would land in the folder of the previous one.
    return { method: 'job', image: ownImage === '' ? `${PUBLIC_IMAGE}:${version}` : imageID, folder }
  }
  return ownImage === '' ? { method: 'zip', version, folder } : { method: 'image', image: imageID, folder }
}

function versionFolder(version: string): string {
  if (VERSION.test(version) && isFileName(version)) return version
  throw new ProvisionError(`status.codeModules.version: ${JSON.stringify(version)} is not a version of an agent`)
}

/** References contain slashes and colons. One that is too long for a name is known by its digest. */
function imageFolder(image: string): string {
  const encoded = Buffer.from(image).toString('base64')
  return isFileName(encoded) ? encoded : createHash('sha256').update(image).digest('hex')
}
