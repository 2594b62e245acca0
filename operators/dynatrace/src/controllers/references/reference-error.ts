/** What a resource refers to is missing. */

/** A resource names an object that does not exist. */
export class ReferenceNotFoundError extends Error {
  readonly code = 'REFERENCE_NOT_FOUND'
  override readonly name: string = 'ReferenceNotFoundError'
}

/** The object exists, but lacks the key that is read. */
export class KeyNotFoundError extends ReferenceNotFoundError {
  override readonly name = 'KeyNotFoundError'
}
