/** Turns the output of a failed helm into a typed error. */
import {
  ChartInvalidError,
  ChartNotFoundError,
  ClusterUnreachableError,
  FieldConflictError,
  type HelmError,
  HelmFailedError,
  HelmForbiddenError,
  HelmTimeoutError,
  NamespaceMissingError,
  ObjectNotOwnedError,
  ObjectRefusedError,
  OperationInProgressError,
  ReleaseExistsError,
  ReleaseNotFoundError,
  TemplateError,
  ValuesRefusedError,
} from '../errors.ts'
import { templatePlace } from './template-place.ts'
import { valueProblems } from './value-problems.ts'

/** A command that ended badly. */
export interface FailedCommand {
  /** Such as `helm upgrade tenant-a/web`, for messages. */
  readonly what: string
  readonly exitCode: number | null
  /** Redacted. */
  readonly stderr: string
}

/** Enough for a schema's report; not for a manifest. */
const MAX_REASON_LENGTH = 2_048

type Explain = (message: string, reason: string, command: FailedCommand) => HelmError

/**
 * Helm has no codes: its sentences are all there is. The first row that matches decides, so what is precise comes first.
 * They were collected from Helm 3.19 and 4.1, and are checked against the real one by the tests on a cluster.
 */
const ROWS: readonly (readonly [RegExp, Explain])[] = [
  [
    /another operation \(install\/upgrade\/rollback\) is in progress/,
    (message) => new OperationInProgressError(`${message}; recover the release if no other operation is running`),
  ],
  [/cannot re-?use a name that is still in use/, (message) => new ReleaseExistsError(`${message}; upgrade it`)],
  [
    // The last is the output of an uninstall when Helm can read none of the records.
    /release: not found|has no deployed releases|release has no \d+ version|^no release provided$/,
    (message) => new ReleaseNotFoundError(message),
  ],
  [
    /values don't meet the specifications of the schema/,
    (message, reason) => new ValuesRefusedError(message, valueProblems(reason)),
  ],
  [
    /Apply failed with \d+ conflict/,
    (message, reason) =>
      new FieldConflictError(`${message}; stop managing the fields there, or force`, conflictOf(reason)),
  ],
  [
    /exists and cannot be imported into the current release/,
    (message) => new ObjectNotOwnedError(`${message}; delete or rename it, or take ownership`),
  ],
  [
    /namespaces "[^"]+" not found/,
    (message) => new NamespaceMissingError(`${message}; create it, or let the install create it`),
  ],
  [
    /is forbidden: [Uu]ser|cannot impersonate|provide credentials|: Unauthorized/,
    (message) => new HelmForbiddenError(`${message}; extend the role that helm runs with`),
  ],
  [
    /cluster unreachable|connection refused|connection reset by peer|no such host|TLS handshake timeout|unexpected EOF|server is currently unable to handle|the server is shutting down/i,
    (message) => new ClusterUnreachableError(message),
  ],
  [
    /execution error at \(|executing "[^"]+" at <|YAML parse error on |parse error at \(|template: \S+:\d+|error calling \w+:/,
    (message, reason) => new TemplateError(message, templatePlace(reason)),
  ],
  [
    /context deadline exceeded|timed out waiting for|would exceed context deadline|i\/o timeout/,
    (message) => new HelmTimeoutError(`${message}; see why the objects are not ready, or raise timeoutMs`, 'helm'),
  ],
  [
    /Chart\.yaml(: no such file| file is missing)|not appear to be a gzipped archive|validation: chart\.|chart metadata is missing|cannot load (Chart|values)\.yaml|missing in charts\/ directory|chart requires kubeVersion|is not a valid chart/,
    (message) => new ChartInvalidError(message),
  ],
  [/path "[^"]*" not found|no such file or directory/, (message) => new ChartNotFoundError(message)],
  [
    /no matches for kind|cannot be handled as an?|json: cannot unmarshal|is invalid:|denied the request|error validating|strict decoding error|unknown field|is forbidden:|unable to build kubernetes objects|could not find the requested resource/,
    (message) => new ObjectRefusedError(message),
  ],
]

/** The error for a command that failed. */
export function readFailure(command: FailedCommand): HelmError {
  const reason = lastWords(command.stderr)
  const message = `${command.what}: ${shorten(reason)}`
  const [, explain] = ROWS.find(([pattern]) => pattern.test(reason)) ?? []
  if (explain !== undefined) return explain(message, reason, command)
  return new HelmFailedError(reason === '' ? `${command.what} failed and did not say why` : message, command.exitCode)
}

/** Whether helm came no further than asking who it is: nothing was changed, and other credentials may help. */
export function isUnauthenticated(stderr: string): boolean {
  return /cluster unreachable: (the server has asked for the client to provide credentials|Unauthorized)/i.test(stderr)
}

/** From `Error:` on; lines before it are warnings and a log. Without it, everything. */
function lastWords(stderr: string): string {
  const [, said] = /^Error: ([\s\S]*)$/m.exec(stderr) ?? []
  return (said ?? stderr).replace(/^(INSTALLATION|UPGRADE|ROLLBACK) FAILED: /, '').trim()
}

/** `Apply failed with 1 conflict: conflict with "boss" using apps/v1: .spec.replicas`, or a list after several. */
function conflictOf(reason: string): { managers: readonly string[]; fields: readonly string[] } {
  const managers = [...reason.matchAll(/conflicts? with "([^"]+)"/g)].map(([, manager = '']) => manager)
  const fields = [...reason.matchAll(/(?:^- |using [^\s:]+: )(\.\S+)/gm)].map(([, field = '']) => field.slice(1))
  return { managers: [...new Set(managers)], fields: [...new Set(fields)] }
}

function shorten(text: string): string {
  return text.length <= MAX_REASON_LENGTH ? text : `${text.slice(0, MAX_REASON_LENGTH)}…`
}
