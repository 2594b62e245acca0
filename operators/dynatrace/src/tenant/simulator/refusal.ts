/** An error response as an exception: thrown by handlers and by the state of a tenant, written by `http/error-response.ts`. */

/** One invalid part of a request. */
export interface ConstraintViolation {
  readonly path: string
  readonly message: string
  readonly parameterLocation: 'QUERY' | 'PATH' | 'PAYLOAD_BODY' | 'HEADER'
}

/** What a refusal contains besides its status and message. */
export interface RefusalDetails {
  readonly violations?: readonly ConstraintViolation[]
  readonly missingScopes?: readonly string[]
  /** The error code of registries and OAuth servers, such as `invalid_client`. */
  readonly reason?: string
  /** Code in the body, if it differs from the status. */
  readonly bodyCode?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Ends a call with an error; the route decides the form of its body. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code = 'SIMULATOR_REFUSAL'
  readonly status: number
  readonly details: RefusalDetails

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super(message)
    this.status = status
    this.details = details
  }
}

/** 400 with one violation. */
export function violation(
  parameterLocation: ConstraintViolation['parameterLocation'],
  path: string,
  message: string,
): Refusal {
  return new Refusal(400, 'Constraints violated.', { violations: [{ path, message, parameterLocation }] })
}
