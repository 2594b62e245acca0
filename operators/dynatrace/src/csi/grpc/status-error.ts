/** Failures of calls, by the codes of gRPC. */

/** The codes that the driver uses. */
export const STATUS = Object.freeze({
  unknown: 2,
  invalidArgument: 3,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
})

/** A failure with a code that the caller decides by. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly code: (typeof STATUS)[keyof typeof STATUS]

  constructor(code: StatusError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
