/** The errors between a fresh machine and a running control plane. */

/** Base class of the errors of this package. Decide by `code`. */
export class RealClusterError extends Error {
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/** The binaries are neither provided nor built, and Go is missing to build them. */
export class GoMissingError extends RealClusterError {
  constructor(options?: ErrorOptions) {
    super(
      'REAL_CLUSTER_GO_MISSING',
      'No Go toolchain found, and the control plane is built from source. Either install Go (your package manager has ' +
        'it as "go" or "golang"; the go line in tools/real-cluster/go.mod names the oldest version that works) and run ' +
        'again, or set KUBEBUILDER_ASSETS to a folder with the executables etcd, kube-apiserver and ' +
        'kube-controller-manager.',
      options,
    )
  }
}

/** `KUBEBUILDER_ASSETS` is set but executables are missing. */
export class AssetsIncompleteError extends RealClusterError {
  constructor(folder: string, missing: readonly string[]) {
    super(
      'REAL_CLUSTER_ASSETS_INCOMPLETE',
      `KUBEBUILDER_ASSETS is ${folder}, which has no executable ${missing.join(', ')}. Add it or unset the variable.`,
    )
  }
}

/** `go build` failed. */
export class BuildFailedError extends RealClusterError {
  constructor(command: string, output: string, options?: ErrorOptions) {
    super('REAL_CLUSTER_BUILD_FAILED', `"${command}" failed:\n${output}`, options)
  }
}

/** A component of the control plane exited unexpectedly. */
export class ComponentExitedError extends RealClusterError {
  readonly component: string
  readonly logTail: string

  constructor(component: string, how: string, logTail: string) {
    super('REAL_CLUSTER_COMPONENT_EXITED', `${component} exited with ${how}. The end of its log:\n${logTail}`)
    this.component = component
    this.logTail = logTail
  }
}

/** The control plane runs but did not become ready in time. */
export class NotReadyError extends RealClusterError {
  constructor(what: string, timeoutMs: number, lastResponse: string, logTail: string) {
    super(
      'REAL_CLUSTER_NOT_READY',
      `${what} after ${timeoutMs} ms. Last response: ${lastResponse}\nThe end of the log:\n${logTail}`,
    )
  }
}

/** The API server responded with an error. */
export class RequestFailedError extends RealClusterError {
  readonly status: number

  constructor(method: string, path: string, status: number, body: string) {
    super('REAL_CLUSTER_REQUEST_FAILED', `${method} ${path} failed with ${status}: ${body}`)
    this.status = status
  }
}
