/** Which version of a component is in use, and where it comes from. */
import { group, text, time } from './fields.ts'

/** The members of a version status. */
export const versionStatusFields = {
  source: text('Where it comes from: tenant-registry, public-registry, custom-image or custom-version.'),
  imageID: text('The image in use.'),
  version: text('The version in use; custom-image when only the image knows it.'),
  type: text('Type of the image; no longer written.'),
  lastProbeTimestamp: time('When the version was last looked up.'),
}

/** A version status. */
export const versionStatus = (component: string) => group(versionStatusFields, `The version of ${component} in use.`)
