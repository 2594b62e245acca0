/** A helm that was found and whose version is known. */

/** The manager of every field that helm writes, regardless of the name of its executable. */
export const HELM_FIELD_MANAGER = 'helm'

/** An executable and what it is. */
export interface HelmBinary {
  readonly path: string
  /** Such as `4.1.4`. */
  readonly version: string
  /** Decides which flags it understands. */
  readonly major: 3 | 4
}
