/** Errors while a pod is prepared. */

/** Stable codes of {@link BootstrapError}. */
export type BootstrapErrorCode =
  /** An argument cannot be parsed; never suppressed. */
  | 'BOOTSTRAP_ARGUMENT'
  /** An input file, an attribute or the agent itself is missing or malformed. */
  | 'BOOTSTRAP_INPUT'
  /** The tenant did not deliver the agent. */
  | 'BOOTSTRAP_DOWNLOAD'

/** An error with a message for the person who reads the log of the init container. */
export class BootstrapError extends Error {
  override readonly name = 'BootstrapError'
  readonly code: BootstrapErrorCode

  constructor(code: BootstrapErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** An error about an input file or an attribute. */
export function inputError(message: string, cause?: unknown): BootstrapError {
  return new BootstrapError('BOOTSTRAP_INPUT', message, { cause })
}

/** The tenant, or a proxy, did not deliver the agent. */
export class DownloadError extends BootstrapError {
  /** Whether the same request may succeed when it is retried. */
  readonly isTransient: boolean

  constructor(message: string, options: ErrorOptions & { readonly isTransient?: boolean } = {}) {
    super('BOOTSTRAP_DOWNLOAD', message, options)
    this.isTransient = options.isTransient ?? false
  }
}
