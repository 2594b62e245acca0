/** The one error class of the simulated tenant. */

/**
 * An operation that the simulator does not support. `code` is stable: `SIMULATOR_OPTIONS` for options that make
 * no sense, `SIMULATOR_UNKNOWN_TENANT` and `SIMULATOR_UNKNOWN_IMAGE` for names that do not exist.
 */
export class SimulatorError extends Error {
  override readonly name = 'SimulatorError'
  readonly code: 'SIMULATOR_OPTIONS' | 'SIMULATOR_UNKNOWN_TENANT' | 'SIMULATOR_UNKNOWN_IMAGE'

  constructor(code: SimulatorError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
