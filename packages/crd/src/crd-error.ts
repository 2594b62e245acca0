/** An error in a CRD's definition, found when the definition is evaluated. */

/**
 * Thrown for a definition that no API server would accept. `code` identifies the violated rule, the message contains
 * the path and the remedy.
 */
export class CrdError extends Error {
  readonly code: 'UnsupportedSchema' | 'InvalidVersions' | 'UnknownVersion' | 'ConversionFailed'

  constructor(code: CrdError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CrdError'
    this.code = code
  }
}
