/** A problem that the message explains to the user. */
export class ManifestsError extends Error {
  override readonly name = 'ManifestsError'
}
