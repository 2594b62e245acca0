/** A mistake in a CRD's definition, found when the definition is evaluated. */

/**
 * Thrown for a definition that no API server would accept. `code` says which rule was broken, the message says
 * where and what to write instead.
 */
export class CrdError extends Error {
  readonly code: 'UnsupportedSchema' | 'InvalidVersions' | 'UnknownVersion' | 'ConversionFailed'

  constructor(code: CrdError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CrdError'
    this.code = code
  }
}
