/** The errors between a machine and a running node. */

/** Base class of the errors of this package. Decide by `code`. */
export class RealNodeError extends Error {
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/** A node cannot run on this machine. */
export class UnsupportedMachineError extends RealNodeError {
  constructor(reason: string) {
    super('REAL_NODE_UNSUPPORTED', reason)
  }
}

/** A program failed. */
export class ProgramFailedError extends RealNodeError {
  constructor(program: string, how: string, output: string, options?: ErrorOptions) {
    super('REAL_NODE_PROGRAM_FAILED', `${program} ${how}:\n${output}`, options)
  }
}

/** A component of the node exited unexpectedly. */
export class ComponentExitedError extends RealNodeError {
  constructor(component: string, logTail: string) {
    super('REAL_NODE_COMPONENT_EXITED', `${component} exited. The end of its log:\n${logTail}`)
  }
}

/** Something did not happen in time. */
export class TimeoutError extends RealNodeError {
  constructor(what: string, timeoutMs: number, last: string) {
    super('REAL_NODE_TIMEOUT', `${what}: not within ${timeoutMs} ms. Last seen: ${last}`)
  }
}
