/** Why an agent cannot be installed, apart from errors of the tenant, the registry, the archive and the disk. */

/** Names the field or object, and what to do. */
export class ProvisionError extends Error {
  override readonly name = 'ProvisionError'
  readonly code = 'CSI_PROVISION'
}
