/** API errors: a `Status` object with an HTTP code. */

/** One error of one field, in the format of API validation. */
export interface FieldError {
  /** Dotted path such as `spec.template.spec.containers[0].name`. */
  readonly field: string
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueDuplicate'
    | 'FieldValueNotSupported'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid'
    | 'FieldValueNotFound'
  /** The message without the field's path, such as `Required value: name is needed`. */
  readonly message: string
}

/** One of several causes of an error. */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** The object that an error refers to. */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** Thrown anywhere below the HTTP front; becomes the response. */
export class StatusError extends Error {
  readonly code: number
  readonly reason: string
  readonly details: StatusDetails | undefined

  constructor(code: number, reason: string, message: string, details?: StatusDetails, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StatusError'
    this.code = code
    this.reason = reason
    this.details = details
  }
}
