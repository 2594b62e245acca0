/** Errors of registries, one class per failure that a caller may handle. */
import { CodedError, type Refusal } from '@reeve/http'

/** Stable codes of {@link RegistryError}; connections fail with the codes of `HttpError`. */
export type RegistryErrorCode =
  | 'REGISTRY_REFUSED'
  | 'REGISTRY_BAD_RESPONSE'
  | 'REGISTRY_DIGEST_MISMATCH'
  | 'REGISTRY_NO_PLATFORM'
  | 'REGISTRY_REFERENCE'
  | 'REGISTRY_CREDENTIALS'

/** Base of these errors. No message ever contains a password or a token. */
export abstract class RegistryError extends CodedError<RegistryErrorCode> {}

/** The registry refused a request. */
export class RegistryRefusedError extends RegistryError implements Refusal {
  override readonly name = 'RegistryRefusedError'
  override readonly code = 'REGISTRY_REFUSED'
  /** HTTP status. */
  readonly status: number
  /** The registry's own code, such as `MANIFEST_UNKNOWN`; empty without one. */
  readonly reason: string
  readonly retryAfterMs: number | undefined

  constructor(
    what: string,
    status: number,
    { reason = '', message = '' }: { readonly reason?: string; readonly message?: string },
    retryAfterMs?: number,
  ) {
    super(`${what}: ${[status, reason, message].filter((part) => part !== '').join(' ')}`)
    this.status = status
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** The registry sent a response that the distribution specification does not allow. */
export class RegistryResponseError extends RegistryError {
  override readonly name = 'RegistryResponseError'
  override readonly code = 'REGISTRY_BAD_RESPONSE'
}

/** Content that is not what its digest says. Never use it. */
export class DigestMismatchError extends RegistryError {
  override readonly name = 'DigestMismatchError'
  override readonly code = 'REGISTRY_DIGEST_MISMATCH'
  /** What it should have been. */
  readonly expected: string

  constructor(what: string, expected: string) {
    super(`${what}: the content is not ${expected}; the registry, a mirror or a proxy changed it`)
    this.expected = expected
  }
}

/** The image does not exist for this kind of machine. */
export class NoPlatformError extends RegistryError {
  override readonly name = 'NoPlatformError'
  override readonly code = 'REGISTRY_NO_PLATFORM'
}

/** A text that names no image. */
export class ImageReferenceError extends RegistryError {
  override readonly name = 'ImageReferenceError'
  override readonly code = 'REGISTRY_REFERENCE'
}

/** Credentials that cannot be read. */
export class RegistryCredentialsError extends RegistryError {
  override readonly name = 'RegistryCredentialsError'
  override readonly code = 'REGISTRY_CREDENTIALS'
}
