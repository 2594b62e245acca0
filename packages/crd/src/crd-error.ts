/** An error in a CRD's definition, found when the definition is evaluated. */
import { CodedError } from '@reeve/http'

/** Stable codes of {@link CrdError}. */
export type CrdErrorCode =
  | 'CRD_UNSUPPORTED_SCHEMA'
  | 'CRD_INVALID_VERSIONS'
  | 'CRD_UNKNOWN_VERSION'
  | 'CRD_CONVERSION_FAILED'

/**
 * Thrown for a definition that no API server would accept. `code` identifies the violated rule, the message contains
 * the path and the remedy.
 */
export class CrdError extends CodedError<CrdErrorCode> {
  override readonly name = 'CrdError'
  override readonly code: CrdErrorCode

  constructor(code: CrdErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
